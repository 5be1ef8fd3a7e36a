/** Of an organization's policies in a minute. Those in files of its repositories have their own. */
const BUDGET_MS = 10_000
const WINDOW_SECONDS = 60
/** Of one evaluation: of all policies of a deployment or of a repository. */
const EVALUATION_MS = 5000
const WAIT_MS_MAX = 60_000
/** Of an organization. Each is a request or a job. */
const WAITING_MAX = 1000
/** Organizations whose turn is known. */
const SERVED_MAX = 1000
const RETRY_MS = 200

/** A policy has waited too long for its turn. The message is the reason of its verdict. */
export class PolicyBudgetError extends Error {}

/** An evaluation has used up its time. The message is the reason of the verdict of its policies. */
export class EvaluationTimeError extends Error {
  constructor() {
    super(`The evaluation took more than ${EVALUATION_MS / 1000} seconds in all`)
  }
}

/** Who asks policies. `org_id` is null for the operator's command line. */
export type PolicyAsker = {
  org_id: string | null
  /** Gates come first. */
  isGate: boolean
  /** How long a policy may wait for its turn. */
  waitMs: number
  /** What is left of the time of the evaluation. */
  leftMs: number
}

/** Who asks all policies of one evaluation. */
export function createAsker(
  org_id: string | null,
  { isGate = false, waitMs = WAIT_MS_MAX }: Partial<Pick<PolicyAsker, 'isGate' | 'waitMs'>> = {},
): PolicyAsker {
  return { org_id, isGate, waitMs, leftMs: EVALUATION_MS }
}

type Second = { at: number; spent: Map<string, number> }

/** What each budgetKey has spent in the last minute, by whole seconds. */
export class PolicyBudget {
  readonly #now: () => number
  readonly #seconds: Second[] = []
  readonly #spent = new Map<string, number>()

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  isLeft(budgetKey: string): boolean {
    this.#forgetOld()
    return (this.#spent.get(budgetKey) ?? 0) < BUDGET_MS
  }

  spend(budgetKey: string, ms: number): void {
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

type Waiting = {
  asker: PolicyAsker
  organization: string
  budgetKey: string
  start: () => void
  fail: (error: Error) => void
}

/**
 * Whose turn it is to ask: the organizations one after the other, gates first. One organization has
 * half of the slots at most, and waits while its budget is spent, so that another one finds a slot
 * at once. Each process has a queue and a budget of its own, as it has policy processes of its own.
 */
export class PolicyQueue<Slot> {
  readonly #free: Slot[]
  readonly #perOrganization: number
  readonly #budget: PolicyBudget
  readonly #waiting = new Set<Waiting>()
  readonly #running = new Map<string, number>()
  /** The organizations that were served, the last one at the end. */
  readonly #served = new Set<string>()
  #timer: NodeJS.Timeout | null = null

  constructor(slots: readonly Slot[], budget: PolicyBudget) {
    this.#free = [...slots]
    this.#perOrganization = Math.ceil(slots.length / 2)
    this.#budget = budget
  }

  /**
   * Calls `ask` with a slot and the time that it may take, when it is the asker's turn. `ask`
   * returns its answer and the time to charge. Throws `PolicyBudgetError` if the asker has waited
   * too long, and `EvaluationTimeError`.
   */
  async run<Answer>(
    asker: PolicyAsker,
    isRepository: boolean,
    ask: (slot: Slot, leftMs: number) => Promise<{ answer: Answer; usedMs: number }>,
  ): Promise<Answer> {
    const organization = asker.org_id ?? ''
    const budgetKey = isRepository ? `${organization} repositories` : organization
    const slot = await this.#acquire({ asker, organization, budgetKey })
    const startedAt = performance.now()
    let charged: number | null = null
    try {
      const { answer, usedMs } = await ask(slot, asker.leftMs)
      charged = usedMs
      return answer
    } finally {
      const spentMs = charged ?? performance.now() - startedAt
      asker.leftMs -= spentMs
      this.#budget.spend(budgetKey, spentMs)
      this.#release(slot, { asker, organization })
    }
  }

  #acquire(asked: Omit<Waiting, 'start' | 'fail'>): Promise<Slot> {
    const { promise, resolve, reject } = Promise.withResolvers<Slot>()
    const end = () => {
      clearTimeout(timer)
      this.#waiting.delete(waiting)
    }
    const waiting: Waiting = {
      ...asked,
      start: () => {
        end()
        resolve(this.#free.pop() as Slot)
      },
      fail: (error) => {
        end()
        reject(error)
      },
    }
    const timer = setTimeout(() => waiting.fail(new PolicyBudgetError(explainWait(asked))), asked.asker.waitMs).unref()
    this.#waiting.add(waiting)
    const others = [...this.#waiting].filter(({ organization }) => organization === asked.organization)
    if (asked.asker.leftMs <= 0) waiting.fail(new EvaluationTimeError())
    else if (others.length > WAITING_MAX) waiting.fail(new PolicyBudgetError(explainWait(asked)))
    else this.#fill()
    return promise
  }

  #release(slot: Slot, { asker, organization }: Pick<Waiting, 'asker' | 'organization'>): void {
    this.#free.push(slot)
    const running = (this.#running.get(organization) ?? 1) - 1
    if (running > 0) this.#running.set(organization, running)
    else this.#running.delete(organization)
    if (asker.leftMs <= 0)
      for (const waiting of this.#waiting) if (waiting.asker === asker) waiting.fail(new EvaluationTimeError())
    this.#fill()
  }

  #fill(): void {
    while (this.#free.length > 0) {
      const next = this.#select()
      if (next === null) break
      this.#running.set(next.organization, (this.#running.get(next.organization) ?? 0) + 1)
      this.#served.delete(next.organization)
      this.#served.add(next.organization)
      for (const oldest of this.#served) if (this.#served.size > SERVED_MAX) this.#served.delete(oldest)
      next.start()
    }
    if (this.#free.length > 0 && this.#waiting.size > 0)
      this.#timer ??= setTimeout(() => this.#retry(), RETRY_MS).unref()
  }

  /** Budgets are given back as time passes. */
  #retry(): void {
    this.#timer = null
    this.#fill()
  }

  /** The first question of the organization that was not served for the longest time. */
  #select(): Waiting | null {
    const turns = new Map([...this.#served].map((organization, index) => [organization, index]))
    const rank = ({ organization, asker, budgetKey }: Waiting) => [
      asker.isGate ? 0 : 1,
      turns.get(organization) ?? -1,
      budgetKey === organization ? 0 : 1,
    ]
    let first: { waiting: Waiting; rank: number[] } | null = null
    for (const waiting of this.#waiting) {
      if ((this.#running.get(waiting.organization) ?? 0) >= this.#perOrganization) continue
      if (!this.#budget.isLeft(waiting.budgetKey)) continue
      const ranked = { waiting, rank: rank(waiting) }
      if (first === null || isBefore(ranked.rank, first.rank)) first = ranked
    }
    return first?.waiting ?? null
  }
}

function isBefore(one: readonly number[], other: readonly number[]): boolean {
  const differing = one.findIndex((value, index) => value !== other[index])
  return differing >= 0 && (one[differing] as number) < (other[differing] as number)
}

function explainWait({
  asker,
  organization,
  budgetKey,
}: Pick<Waiting, 'asker' | 'organization' | 'budgetKey'>): string {
  const whose =
    budgetKey === organization ? 'policies of the organization' : "policies of the organization's repositories"
  const limit = `they have ${BUDGET_MS / 1000} seconds a minute`
  return `budget: the ${whose} take too long (${limit}), and this one waited ${asker.waitMs / 1000} seconds for its turn`
}
