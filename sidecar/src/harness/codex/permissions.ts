/**
 * What Claude Code's mode means to Codex, and the answer to each request that Codex makes of us.
 *
 * No request is left without an answer: an unanswered one hangs the turn (measured on codex 0.171.0).
 */
import type { Access } from '../contract.js';
import { worktreeRoots } from './worktree.js';

/** The part of `turn/start` that bounds the turn. It is sent with every turn, so that nothing remembered widens it. */
export type Bounds = {
  readonly approvalPolicy: 'never' | 'on-request';
  /** Never `auto_review`, which a user's config may set: another model would then grant what we decline. */
  readonly approvalsReviewer: 'user';
  readonly sandboxPolicy: SandboxPolicy;
};

export type SandboxPolicy =
  | { readonly type: 'readOnly'; readonly networkAccess: false }
  | {
      readonly type: 'workspaceWrite';
      readonly writableRoots: readonly string[];
      readonly networkAccess: false;
      readonly excludeTmpdirEnvVar: false;
      readonly excludeSlashTmp: false;
    }
  | { readonly type: 'dangerFullAccess' };

/**
 * `on-request` rather than `never` below full access, so that a command which needs more shows as a declined
 * request instead of as a puzzling error, and so that MCP tools, which no sandbox holds, ask first.
 */
export function boundsOf(access: Access, cwd: string): Bounds {
  switch (access.level) {
    case 'read_only':
      return {
        approvalPolicy: 'on-request',
        approvalsReviewer: 'user',
        sandboxPolicy: { type: 'readOnly', networkAccess: false },
      };
    case 'workspace_write':
      return {
        approvalPolicy: 'on-request',
        approvalsReviewer: 'user',
        sandboxPolicy: {
          type: 'workspaceWrite',
          writableRoots: worktreeRoots(cwd),
          networkAccess: false,
          // The system's temporary folder stays writable, as in Codex's own workspace-write: compilers, test
          // runners and here-documents need it.
          excludeTmpdirEnvVar: false,
          excludeSlashTmp: false,
        },
      };
    case 'full':
      return { approvalPolicy: 'never', approvalsReviewer: 'user', sandboxPolicy: { type: 'dangerFullAccess' } };
  }
}

export type Reply =
  | { readonly kind: 'result'; readonly result: unknown }
  | { readonly kind: 'error'; readonly code: number; readonly message: string };

export type Answered = {
  readonly reply: Reply;
  /** What is shown of it; null for a request that asks for no permission. */
  readonly shown: {
    readonly subject: string;
    readonly decision: 'allowed' | 'declined';
    readonly reason: string;
  } | null;
};

/**
 * The answer to a server request.
 *
 * @param access Of the turn that asks; null when no turn of ours is known to ask: then it is declined.
 */
export function answerTo(method: string, params: unknown, access: Access | null): Answered {
  const fields = isRecord(params) ? params : {};
  const isAllowed = access?.level === 'full';
  const shown = (subject: string) => ({
    subject,
    decision: isAllowed ? ('allowed' as const) : ('declined' as const),
    reason: reasonOf(access),
  });
  const result = (value: unknown): Reply => ({ kind: 'result', result: value });
  switch (method) {
    case 'item/commandExecution/requestApproval':
      return {
        reply: result({ decision: isAllowed ? 'accept' : 'decline' }),
        shown: shown(sentence('run', fields.command ?? fields.kind ?? 'a command', fields.reason)),
      };
    case 'item/fileChange/requestApproval':
      return {
        reply: result({ decision: isAllowed ? 'accept' : 'decline' }),
        shown: shown(sentence('change files', fields.grantRoot, fields.reason)),
      };
    case 'item/permissions/requestApproval':
      return {
        reply: result({ permissions: isAllowed ? (fields.permissions ?? {}) : {}, scope: 'turn' }),
        shown: shown(sentence('more permissions', JSON.stringify(fields.permissions ?? {}), fields.reason)),
      };
    case 'mcpServer/elicitation/request': {
      const subject = sentence(`MCP server ${text(fields.serverName) || 'unknown'}`, fields.message ?? fields.title);
      const isToolCall = isRecord(fields._meta) && fields._meta.codex_approval_kind === 'mcp_tool_call';
      if (isAllowed && isToolCall) {
        return { reply: result({ action: 'accept', content: {}, _meta: null }), shown: shown(subject) };
      }
      return {
        reply: result({ action: 'decline', content: null, _meta: null }),
        shown: { subject, decision: 'declined', reason: isToolCall ? reasonOf(access) : NOBODY },
      };
    }
    case 'item/tool/requestUserInput': {
      const questions = Array.isArray(fields.questions) ? fields.questions.filter(isRecord) : [];
      const asked = questions.map((question) => text(question.question)).filter(Boolean);
      return {
        reply: result({ answers: {} }),
        shown: { subject: sentence('a question', asked.join(' ')), decision: 'declined', reason: NOBODY },
      };
    }
    case 'item/tool/call':
      return {
        reply: result({ contentItems: [{ type: 'inputText', text: 'This tool is not available.' }], success: false }),
        shown: {
          subject: sentence('the tool', fields.tool),
          decision: 'declined',
          reason: 'No such tool is offered here.',
        },
      };
    case 'applyPatchApproval':
    case 'execCommandApproval':
      // The first protocol's forms, still in 0.171.0's schema.
      return {
        reply: result({ decision: isAllowed ? 'approved' : 'denied' }),
        shown: shown(
          sentence(method === 'applyPatchApproval' ? 'change files' : 'run', commandOf(fields), fields.reason),
        ),
      };
    default:
      return {
        reply: { kind: 'error', code: -32601, message: `Verbatim does not answer ${method}.` },
        shown: { subject: method, decision: 'declined', reason: 'Verbatim does not know this request.' },
      };
  }
}

const NOBODY = 'Nobody can be asked while an agent runs.';

function reasonOf(access: Access | null): string {
  switch (access?.level) {
    case 'full':
      return 'The permission mode allows everything.';
    case 'workspace_write':
      return 'The permission mode allows writing in the working folder, and no more.';
    case 'read_only':
      return 'The permission mode allows reading only.';
    case undefined:
      return 'No turn of this session asks.';
  }
}

function sentence(what: string, subject: unknown, reason?: unknown): string {
  const details = [text(subject), text(reason)].filter(Boolean);
  return details.length === 0 ? what : `${what}: ${details.join(' — ')}`;
}

function commandOf(fields: Record<string, unknown>): string {
  return Array.isArray(fields.command) ? fields.command.map(String).join(' ') : text(fields.command);
}

const text = (value: unknown) => (typeof value === 'string' ? value : '');

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
