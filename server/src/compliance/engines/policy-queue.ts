/** Of an organization's policies in a minute. Those in files of its repositories have their own. */
const BUDGET_MS = 10_000
/** What is left of it below this is for gates alone. */
const GATES_BUDGET_MS = BUDGET_MS / 2
const WINDOW_SECONDS = 60
/** Of one evaluation: of all policies of a deployment or of a repository. */
const EVALUATION_MS = 5000
const WAIT_MS_MAX = 60_000
/** Of an organization. Each is a request or a job. */
const WAITING_MAX = 1000
/** Questions of gates before one that is not of a gate, if one waits. */
const GATES_IN_A_ROW = 3
/** Organizations whose turn is known. */
const SERVED_MAX = 1000
const RETRY_MS = 200

/** A policy was not asked in time. The message is the reason of its verdict. */
export class PolicyBudgetError extends Error {}

/** An evaluation has used up its time. */
export class EvaluationTimeError extends PolicyBudgetError {
  constructor() {
    super(`budget: the evaluation took more than ${EVALUATION_MS / 1000} seconds in all`)
  }
}

type AskerOptions = {
  /** Gates come first. */
  isGate?: boolean
  /**
   * Whether the policies are in files of repositories, which have a budget and processes of their
   * own.
   */
  isRepository?: boolean
  /** How long each policy may wait for its turn, from now. */
  waitMs?: number
  now?: () => number
}

/**
 * Who asks all policies of one evaluation. `org_id` is null for the operator, who has no budget.
 */
export class PolicyAsker {
  readonly org_id: string | null
  readonly isGate: boolean
  readonly isRepository: boolean
  readonly waitMs: number
  readonly #now: () => number
  readonly #waitsUntil: number
  #leftMs = EVALUATION_MS
  #asking = 0
  #askingSince = 0

  constructor(
    org_id: string | null,
    { isGate = false, isRepository = false, waitMs = WAIT_MS_MAX, now = () => performance.now() }: AskerOptions = {},
  ) {
    this.org_id = org_id
    this.isGate = isGate
    this.isRepository = isRepository
    this.waitMs = waitMs
    this.#now = now
    this.#waitsUntil = now() + waitMs
  }

  /**
   * What is left of the time of the evaluation. Questions that are answered side by side count
   * once.
   */
  get leftMs(): number {
    return this.#leftMs - (this.#asking > 0 ? this.#now() - this.#askingSince : 0)
  }

  /** How long its policies may still wait. */
  get waitLeftMs(): number {
    return Math.max(0, this.#waitsUntil - this.#now())
  }

  start(): void {
    if (this.#asking === 0) this.#askingSince = this.#now()
    this.#asking += 1
  }

  end(): void {
    const left = this.leftMs
    this.#asking -= 1
    if (this.#asking === 0) this.#leftMs = left
  }
}

type Second = { at: number; spent: Map<string, number> }

type Budgeted = Pick<PolicyAsker, 'org_id' | 'isGate' | 'isRepository'>

function getKey({ org_id, isRepository }: Omit<Budgeted, 'isGate'>): string {
  return isRepository ? `${org_id} repositories` : `${org_id}`
}

/** What each organization has spent in the last minute, by whole seconds. */
export class PolicyBudget {
  readonly #now: () => number
  readonly #seconds: Second[] = []
  readonly #spent = new Map<string, number>()

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  isLeft({ org_id, isGate, isRepository }: Budgeted): boolean {
    if (org_id === null) return true
    this.#forgetOld()
    return (this.#spent.get(getKey({ org_id, isRepository })) ?? 0) < (isGate ? BUDGET_MS : GATES_BUDGET_MS)
  }

  spend(spender: Omit<Budgeted, 'isGate'>, ms: number): void {
    const budgetKey = getKey(spender)
    const at = Math.floor(this.#now() / 1000)
    let second = this.#seconds.at(-1)
    if (second?.at !== at) {
      second = { at, spent: new Map() }
      this.#seconds.push(second)
    }
    second.spent.set(budgetKey, (second.spent.get(budgetKey) ?? 0) + ms)
    this.#spent.set(budgetKey, (this.#spent.get(budgetKey) ?? 0) + ms)
  }

  #forgetOld(): void {
    const since = Math.floor(this.#now() / 1000) - WINDOW_SECONDS
    for (let oldest = this.#seconds[0]; oldest !== undefined && oldest.at <= since; oldest = this.#seconds[0]) {
      this.#seconds.shift()
      for (const budgetKey of oldest.spent.keys()) this.#recount(budgetKey)
    }
  }

  #recount(budgetKey: string): void {
    const spent = this.#seconds.reduce((sum, second) => sum + (second.spent.get(budgetKey) ?? 0), 0)
    if (spent > 0) this.#spent.set(budgetKey, spent)
    else this.#spent.delete(budgetKey)
  }
}

type Waiting = { asker: PolicyAsker; start: () => void; fail: (error: Error) => void }

/** `usedMs` is the processor time of an answer; null if only the time is known that it took. */
type Answered<Answer> = { answer: Answer; usedMs: number | null }

/**
 * Whose turn it is to ask: the organizations one after the other, and of each one gates first. One
 * organization has half of the slots at most, and waits while its budget is spent, so that another
 * one finds a slot at once. Each process has queues and a budget of its own, as it has policy
 * processes of its own.
 */
export class PolicyQueue<Slot> {
  readonly #free: Slot[]
  readonly #perOrganization: number
  readonly #budget: PolicyBudget
  readonly #waiting = new Set<Waiting>()
  readonly #running = new Map<string | null, number>()
  /** The organizations that were served, the last one at the end. */
  readonly #served = new Set<string | null>()
  #gatesInARow = 0
  #timer: NodeJS.Timeout | null = null

  constructor(slots: readonly Slot[], budget: PolicyBudget) {
    this.#free = [...slots]
    this.#perOrganization = Math.ceil(slots.length / 2)
    this.#budget = budget
  }

  /**
   * Calls `ask` with a slot and the time that it may take, when it is the asker's turn. Throws
   * `PolicyBudgetError` if the asker has waited too long, and `EvaluationTimeError` if its time was
   * over before its turn.
   */
  async run<Answer>(
    asker: PolicyAsker,
    ask: (slot: Slot, leftMs: number) => Promise<Answered<Answer>>,
  ): Promise<Answer> {
    const slot = await this.#acquire(asker)
    const startedAt = performance.now()
    let charged: number | null = null
    try {
      const { answer, usedMs } = await ask(slot, asker.leftMs)
      charged = usedMs
      return answer
    } finally {
      // Questions side by side share the time.
      const shared = (performance.now() - startedAt) / (this.#running.get(asker.org_id) ?? 1)
      this.#budget.spend(asker, charged ?? shared)
      asker.end()
      this.#release(slot, asker)
    }
  }

  #acquire(asker: PolicyAsker): Promise<Slot> {
    const { promise, resolve, reject } = Promise.withResolvers<Slot>()
    const end = () => {
      clearTimeout(timer)
      this.#waiting.delete(waiting)
    }
    const waiting: Waiting = {
      asker,
      start: () => {
        end()
        asker.start()
        resolve(this.#free.pop() as Slot)
      },
      fail: (error) => {
        end()
        reject(error)
      },
    }
    const timer = setTimeout(() => waiting.fail(this.#explainWait(asker)), asker.waitLeftMs).unref()
    this.#waiting.add(waiting)
    const own = [...this.#waiting].filter((other) => other.asker.org_id === asker.org_id)
    if (own.length > WAITING_MAX)
      waiting.fail(new PolicyBudgetError(`budget: more than ${WAITING_MAX} policies of the organization wait`))
    else this.#fill()
    return promise
  }

  #release(slot: Slot, { org_id }: PolicyAsker): void {
    this.#free.push(slot)
    const running = (this.#running.get(org_id) ?? 1) - 1
    if (running > 0) this.#running.set(org_id, running)
    else this.#running.delete(org_id)
    this.#fill()
  }

  #fill(): void {
    for (const { asker, fail } of this.#waiting) if (asker.leftMs <= 0) fail(new EvaluationTimeError())
    while (this.#free.length > 0) {
      const next = this.#select()
      if (next === null) break
      const { org_id, isGate } = next.asker
      this.#running.set(org_id, (this.#running.get(org_id) ?? 0) + 1)
      this.#served.delete(org_id)
      this.#served.add(org_id)
      for (const oldest of this.#served) if (this.#served.size > SERVED_MAX) this.#served.delete(oldest)
      this.#gatesInARow = isGate ? this.#gatesInARow + 1 : 0
      next.start()
    }
    if (this.#waiting.size > 0) this.#timer ??= setTimeout(() => this.#retry(), RETRY_MS).unref()
  }

  /** Budgets are given back as time passes, and the time of evaluations runs out elsewhere. */
  #retry(): void {
    this.#timer = null
    this.#fill()
  }

  /**
   * The first question of the organization that was not served for the longest time: one of a gate,
   * unless others have been passed over for too long.
   */
  #select(): Waiting | null {
    const turns = new Map([...this.#served].map((organization, index) => [organization, index]))
    const askable = [...this.#waiting].filter(
      ({ asker }) => (this.#running.get(asker.org_id) ?? 0) < this.#perOrganization && this.#budget.isLeft(asker),
    )
    const others = askable.filter(({ asker }) => !asker.isGate)
    const isTheirTurn = this.#gatesInARow >= GATES_IN_A_ROW && others.length > 0
    const rank = ({ asker }: Waiting) => (asker.isGate ? 0 : 2 * SERVED_MAX) + (turns.get(asker.org_id) ?? -1)
    return (isTheirTurn ? others : askable).reduce<Waiting | null>(
      (first, waiting) => (first === null || rank(waiting) < rank(first) ? waiting : first),
      null,
    )
  }

  #explainWait(asker: PolicyAsker): PolicyBudgetError {
    const whose = asker.isRepository ? "policies of the organization's repositories" : 'policies of the organization'
    const cause = this.#budget.isLeft(asker)
      ? 'the policies of others were evaluated'
      : `the ${whose} take too long (they have ${BUDGET_MS / 1000} seconds a minute)`
    return new PolicyBudgetError(`budget: ${cause}, and this one waited ${asker.waitMs / 1000} seconds for its turn`)
  }
}
