import { describe, expect, it } from 'vitest';
import { lastWordsOf, startWaitOf } from '../../../sidecar/src/worker-host/screen.js';

const RULE = '─'.repeat(120);

/** Screens of Claude Code 2.1.332, the parts that tell one from another. */
const DIALOGS = {
  trust: `
${RULE}
 Accessing workspace:

 /home/someone/project

 Quick safety check: Is this a project you created or one you trust? (Like your own code, a well-known open source
 project, or work from your team). If not, take a moment to review what's in this folder first.

 ❯ No, exit
   Yes, I trust this folder

 Enter to confirm · Esc to cancel
`,
  api_key: `
${RULE}
  Detected a custom API key in your environment

  ANTHROPIC_API_KEY: sk-ant-...00000000000000000000

  Do you want to use this API key?

    Yes
  ❯ No (recommended)

  Enter to confirm · Esc to cancel
`,
  warning: `
${RULE}
  WARNING: Claude Code running in Bypass Permissions mode

  In Bypass Permissions mode, Claude Code will not ask for your approval before running potentially dangerous
  commands.

  ❯ No, exit
    Yes, I accept

  Enter to confirm · Esc to cancel
`,
  mcp_servers: `
${RULE}
  New MCP server found in this project: demo

  MCP servers may execute code or access system resources. All tool calls require approval. Learn more in the MCP
  documentation.

    Use this MCP server
    Use this and all future MCP servers in this project
  ❯ Continue without using this MCP server

  Enter to confirm · Esc to reject
`,
  imports: `
${RULE}
  Allow external CLAUDE.md file imports?

  This project's CLAUDE.md or .claude/rules imports files outside the current working directory. Never allow this for
  third-party repositories.

  ❯ No, disable external imports
    Yes, allow external imports

  Enter to confirm · Esc to disable
`,
} as const;

const STYLE = `Welcome to Claude Code v2.1.332
..........................................................
.......█ █   █ █..........................................

 Let's get started.

 Choose the text style that looks best with your terminal
 To change this later, run /theme

 ❯ ✔ Auto (match terminal)
     Dark mode
`;

const NOTES = `Welcome to Claude Code v2.1.332
..........................................................

 Security notes:

 1. Claude can make mistakes.
    You're responsible for Claude's actions and should always
    review them, especially when running code.

 Press Enter to continue
`;

const PROMPT = ` ▐▛███▛█   Claude Code v2.1.332
▝▜██████▀  Opus 5.5 · API Usage Billing
 ▝▝   ▝▝   /home/someone/project


${RULE}
❯
${RULE}
  ⏵⏵ auto mode on (shift+tab to cycle) · ← for agents                                               ◐ medium · /effort
`;

const NOTICE = ` ▐▛███▛█   Claude Code v2.1.332

▎ Auto mode is now Claude Code's default permission mode.
▎ Auto mode lets Claude handle permission prompts automatically. Claude checks each tool call for risky actions and
▎ prompt injection before executing, runs the ones it assesses as lower-risk, and blocks the rest.

${RULE}
❯
${RULE}
  ⏵⏵ auto mode on (shift+tab to cycle) · ← for agents                                               ◐ medium · /effort
`;

const SIGNED_OUT = ` ▐▛███▛█   Claude Code v2.1.332

❯ hello
  ⎿  Not logged in · Please run /login

${RULE}
❯ Once fixed, resend your message
${RULE}
  ⏵⏵ auto mode on (shift+tab to cycle) · ← for agents                                       Not logged in · run /login
`;

const OFFLINE = `Welcome to Claude Code v2.1.332
..........................................................

 Unable to connect to Anthropic services

 Failed to connect to api.anthropic.com: ECONNREFUSED

 Check your internet connection and network settings.

 Claude Code might not be available in your country. Check supported countries at
 https://anthropic.com/supported-countries
`;

/** The screen as a window of so many columns breaks it: at spaces, each line indented as dialogs are. */
function narrowed(screen: string, columns: number): string {
  return screen
    .split('\n')
    .flatMap((line) => {
      const lines = [''];
      for (const word of line.split(' ')) {
        const last = lines.at(-1) ?? '';
        if (last !== '' && last.length + 1 + word.length > columns) lines.push(`  ${word}`);
        else lines[lines.length - 1] = `${last} ${word}`;
      }
      return lines;
    })
    .join('\n');
}

describe('the screen of a worker that is not up yet', () => {
  it.each(Object.entries(DIALOGS))('shows the dialog that holds it: %s', (what, screen) => {
    expect(startWaitOf(screen)).toEqual({ for: what, what: '' });
  });

  it.each(Object.entries(DIALOGS))('shows it in a narrow window too: %s', (what, screen) => {
    for (const columns of [80, 40, 24]) expect(startWaitOf(narrowed(screen, columns))).toEqual({ for: what, what: '' });
  });

  it('shows the questions of a first start', () => {
    expect(startWaitOf(STYLE)).toEqual({ for: 'onboarding', what: '' });
    expect(startWaitOf(NOTES)).toEqual({ for: 'onboarding', what: '' });
  });

  it('shows the servers of a project, one and several', () => {
    const several = DIALOGS.mcp_servers.replace('New MCP server found', '2 new MCP servers found');
    expect(startWaitOf(several)).toEqual({ for: 'mcp_servers', what: '' });
  });

  it.each([
    ['nothing yet', ''],
    ['the prompt', PROMPT],
    ['the prompt with a notice above it', NOTICE],
    ['the prompt of somebody who is not signed in', SIGNED_OUT],
    ['that it is offline, and ends', OFFLINE],
  ])('holds nothing up where it shows %s', (_, screen) => {
    expect(startWaitOf(screen)).toBeNull();
  });
});

describe('the last words of a screen', () => {
  it('are its last three lines that say something, as one line', () => {
    expect(lastWordsOf(OFFLINE)).toBe(
      'Check your internet connection and network settings. | Claude Code might not be available in your country. Check supported countries at | https://anthropic.com/supported-countries',
    );
  });

  it('are without the rules that are drawn around them', () => {
    expect(lastWordsOf(`${RULE}\n  one ──────\n╌╌╌╌\n▔▔▔▔\n two\n\n   \n`)).toBe('one | two');
  });

  it('are without the empty prompt, the footer, and the line that tmux puts below', () => {
    expect(lastWordsOf(PROMPT)).toBe(
      '▐▛███▛█   Claude Code v2.1.332 | ▝▜██████▀  Opus 5.5 · API Usage Billing | ▝▝   ▝▝   /home/someone/project',
    );
    expect(lastWordsOf(`boom\n${RULE}\n❯ \n${RULE}\n  ? for shortcuts\n\nPane is dead (status 1, now)`)).toBe('boom');
  });

  it('are without the spinner, whatever its star and its verb', () => {
    for (const star of ['✻', '✢', '✳', '✶', '✽', '·', '*']) {
      expect(lastWordsOf(`⏺ I look.\n\n${star} Pondering… (12s · ↓ 40 tokens · esc to interrupt)\n\n❯\n`)).toBe(
        '⏺ I look.',
      );
    }
  });

  it('are what a program says though it looks like that in part: a typed prompt, a list, a question', () => {
    expect(lastWordsOf('❯ hello\n* one item\n? for whom')).toBe('❯ hello | * one item | ? for whom');
  });

  it('of an empty screen are none', () => {
    expect(lastWordsOf('\n \n──\n')).toBe('');
  });
});
