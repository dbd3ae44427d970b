/**
 * What Claude Code's mode means to Codex, and the answer to each request that Codex makes of us.
 *
 * No request is left without an answer: an unanswered one hangs the turn (measured on codex 0.171.0).
 */
import type { Access } from '../contract.js';
import { unwrapped } from './shell.js';
import { worktreeRoots } from './worktree.js';

/** The part of `turn/start` that bounds the turn. It is sent with every turn, so that nothing remembered widens it. */
export type Bounds = {
  readonly approvalPolicy: 'on-request' | { readonly granular: Readonly<Record<string, boolean>> };
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
 * With workspace write Codex itself refuses whatever would leave the sandbox, and tells the model so. What it still
 * asks about then is what it finds dangerous (`rm -f`), to be run inside the sandbox: that can be allowed, and must
 * be, for under `never` no agent could remove a build folder. Under `on-request` the two cannot be told apart
 * (all measured on codex 0.171.0).
 */
const INSIDE_THE_SANDBOX = {
  granular: {
    sandbox_approval: false,
    rules: false,
    skill_approval: false,
    request_permissions: false,
    mcp_elicitations: true,
  },
};

/**
 * What bounds a turn. Never the policy `never`: MCP tools, which no sandbox holds, are to ask first, and with it
 * `rm -f` is refused even at full access.
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
        approvalPolicy: INSIDE_THE_SANDBOX,
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
      return { approvalPolicy: 'on-request', approvalsReviewer: 'user', sandboxPolicy: { type: 'dangerFullAccess' } };
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
    case 'item/commandExecution/requestApproval': {
      const subject = subjectOf(
        'run',
        unwrapped(text(fields.command) || text(fields.kind) || 'a command'),
        fields.reason,
      );
      if (access?.level === 'workspace_write' && staysInside(fields)) {
        const reason = 'It runs inside the sandbox of the working folder.';
        return { reply: result({ decision: 'accept' }), shown: { subject, decision: 'allowed', reason } };
      }
      return { reply: result({ decision: isAllowed ? 'accept' : 'decline' }), shown: shown(subject) };
    }
    case 'item/fileChange/requestApproval':
      return {
        reply: result({ decision: isAllowed ? 'accept' : 'decline' }),
        shown: shown(subjectOf('change files', fields.grantRoot, fields.reason)),
      };
    case 'item/permissions/requestApproval':
      return {
        reply: result({ permissions: isAllowed ? (fields.permissions ?? {}) : {}, scope: 'turn' }),
        shown: shown(subjectOf('more permissions', JSON.stringify(fields.permissions ?? {}), fields.reason)),
      };
    case 'mcpServer/elicitation/request': {
      const subject = subjectOf(`MCP server ${text(fields.serverName) || 'unknown'}`, fields.message ?? fields.title);
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
        shown: { subject: subjectOf('a question', asked.join(' ')), decision: 'declined', reason: NOBODY },
      };
    }
    case 'item/tool/call':
      return {
        reply: result({ contentItems: [{ type: 'inputText', text: 'This tool is not available.' }], success: false }),
        shown: {
          subject: subjectOf('the tool', fields.tool),
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
          subjectOf(method === 'applyPatchApproval' ? 'change files' : 'run', commandOf(fields), fields.reason),
        ),
      };
    default:
      return {
        reply: { kind: 'error', code: -32601, message: `Verbatim does not answer ${method}.` },
        shown: { subject: method, decision: 'declined', reason: 'Verbatim does not know this request.' },
      };
  }
}

/** A command that Codex asks about for itself alone: nothing beyond the sandbox is asked for with it. */
function staysInside(fields: Record<string, unknown>): boolean {
  const asksFor = [fields.reason, fields.additionalPermissions, fields.networkApprovalContext, fields.approvalId];
  return fields.kind === 'command' && asksFor.every((each) => each === undefined || each === null);
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

function subjectOf(what: string, subject: unknown, reason?: unknown): string {
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
