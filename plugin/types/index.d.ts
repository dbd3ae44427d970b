/** Where a run stands: plain data of the plugin's own. */
export type VerbatimRun = unknown;

declare module 'claude-code' {
  interface PluginState {
    verbatim: {
      /** By agent id: where the agent's run stands, so that a reload of the module goes on from there. */
      runs: StateFamily<VerbatimRun>;
    };
  }
}
