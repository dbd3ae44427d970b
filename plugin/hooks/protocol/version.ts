/** Verbatim's own version: package.json and the plugin's manifest say the same (a unit test compares them). */
export const VERSION = '0.1.0';
