/** Plain data of the plugin's own. */
export type VerbatimData = unknown;

declare module 'claude-code' {
  interface PluginState {
    verbatim: {
      /** By agent id: where the agent's run stands, so that a reload of the module goes on from there. */
      runs: StateFamily<VerbatimData>;
      /** Where this session's sidecar listens, so that a reloaded module goes on with it. */
      sidecar: VerbatimData;
    };
  }
}
