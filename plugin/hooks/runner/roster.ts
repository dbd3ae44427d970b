/**
 * Which Claude Code agents are ours, and what each was given to do.
 *
 * `classic.SubagentStart` comes before an agent's first step and states its folder; the prompt comes from
 * `agent.spawn`, whose answer may be later (2.1.332). A stalled workflow agent is tried again under a new id with no
 * `agent.spawn` at all: its task is found by the framed text that `turn.start` repeats.
 */
import { type Agent, newAgent, newRun, type Run, type SpawnFacts } from './agent.js';
import { AGENT_TYPES, type AgentType } from './harnesses.js';

export class Roster {
  readonly #agents = new Map<string, Agent>();
  /** Agents known not to be ours, so that their steps are passed on at once. */
  readonly #others = new Set<string>();
  /** Steps that went to the model, by agent. */
  readonly #passed = new Map<string, number>();
  readonly #facts = new Map<string, SpawnFacts>();
  readonly #framed = new Map<string, SpawnFacts>();
  readonly #turns = new Map<string, { readonly turnId: string; readonly text: string }>();

  get(id: string | undefined): Agent | undefined {
    return id === undefined ? undefined : this.#agents.get(id);
  }

  all(): readonly Agent[] {
    return [...this.#agents.values()];
  }

  isOther(id: string): boolean {
    return this.#others.has(id);
  }

  setOther(id: string): void {
    this.#others.add(id);
    this.#turns.delete(id);
  }

  notePassed(id: string): void {
    this.#passed.set(id, this.passedSteps(id) + 1);
  }

  passedSteps(id: string): number {
    return this.#passed.get(id) ?? 0;
  }

  /** The agent with this id, made where there is none. */
  enrol(id: string, type: AgentType): Agent {
    let agent = this.#agents.get(id);
    if (agent === undefined) {
      agent = newAgent(id, type);
      this.#agents.set(id, agent);
      this.#others.delete(id);
    }
    return agent;
  }

  /** An agent that an earlier process or module knew; its store says so by its job alone. */
  restore(id: string, job: string): Agent | undefined {
    const [type] = AGENT_TYPES;
    if (type === undefined) return undefined;
    const agent = this.enrol(id, type);
    agent.job = job;
    return agent;
  }

  setTurn(id: string, turnId: string, text: string): void {
    if (!this.#others.has(id)) this.#turns.set(id, { turnId, text });
  }

  setFacts(id: string, facts: SpawnFacts): void {
    this.#facts.set(id, facts);
    const turn = this.#turns.get(id);
    if (turn !== undefined && turn.text !== facts.prompt) this.#framed.set(turn.text, facts);
  }

  /** What this agent was given and nobody has taken yet, as far as it is known. */
  facts(agent: Agent): SpawnFacts | undefined {
    const turn = this.#turns.get(agent.id);
    const isNew = agent.job === undefined && agent.unsent.length === 0;
    return this.#facts.get(agent.id) ?? (turn === undefined || !isNew ? undefined : this.#framed.get(turn.text));
  }

  /** The same, taken: it is handed over once. */
  takeFacts(agent: Agent): SpawnFacts | undefined {
    const facts = this.facts(agent);
    this.#facts.delete(agent.id);
    if (facts === undefined) return undefined;
    agent.type = facts.type;
    agent.mode = facts.mode;
    agent.session = facts.session;
    agent.model = facts.model ?? agent.model;
    agent.name = facts.name ?? agent.name;
    return facts;
  }

  /** The run that the agent is in, as far as `turn.start` has said. */
  currentRun(agent: Agent): Run | undefined {
    const turn = this.#turns.get(agent.id);
    return turn === undefined ? agent.run : runOf(agent, turn.turnId);
  }
}

/** The run with this turn id, begun where the agent is in another one. */
export function runOf(agent: Agent, turnId: string): Run {
  if (agent.run?.turnId !== turnId) {
    agent.run = newRun(turnId);
    agent.isRunning = true;
    agent.opening = undefined;
  }
  return agent.run;
}
