import { hash } from 'node:crypto'
import { HOUR_MS } from '../../platform/clock.ts'
import { HostRefusal } from '../code-host.ts'

/**
 * How a walk through the pages of a list went so far. It is stored, so that it goes on in another
 * process. `empty` counts the last pages without items, `ms` the time that the host took, and
 * `mark` is the hash of the `next` of an earlier page.
 */
export type WalkState = { pages: number; empty: number; ms: number; mark: string | null }

const PAGES_MAX = 10_000
/** Lists of a whole project have pages without anything of one repository. */
const EMPTY_PAGES_MAX = 500
const WALK_MS_MAX = 2 * HOUR_MS

/** A list that cannot be read to its end: whoever goes on with it may never be done. */
export class BrokenList extends HostRefusal {
  constructor(message: string) {
    super(508, message)
  }
}

type Page = { items?: readonly unknown[]; next: string | null }

/**
 * Reads the pages of one list in their order, and finds the one that has no end: hosts may answer
 * with a page that they sent before, with empty pages, or very slowly.
 */
export class PageWalk {
  readonly #list: string
  #state: WalkState

  constructor(list: string, state: WalkState | null = null) {
    this.#list = list
    this.#state = state ?? { pages: 0, empty: 0, ms: 0, mark: null }
  }

  get state(): WalkState {
    return this.#state
  }

  /** The next page, or what else the request answers. Throws `BrokenList`. */
  async read<Answer extends Page | 'not_modified' | null>(request: () => Promise<Answer>): Promise<Answer> {
    const startedAt = performance.now()
    const answer = await request()
    if (answer !== null && answer !== 'not_modified')
      this.#count(answer as Page, Math.ceil(performance.now() - startedAt))
    return answer
  }

  /**
   * A circle is found by Brent's method: the `next` of page 1, 2, 4, 8, … is kept, and a later one
   * that equals it closes the circle, however long it is.
   */
  #count({ items, next }: Page, tookMs: number): void {
    const { mark, ...before } = this.#state
    const pages = before.pages + 1
    const empty = items?.length === 0 ? before.empty + 1 : 0
    const name = next === null ? null : hash('sha256', next)
    this.#state = { pages, empty, ms: before.ms + tookMs, mark: (pages & (pages - 1)) === 0 ? name : mark }
    if (name === null) return
    if (name === mark) throw new BrokenList(`The host repeats a page of ${this.#list}`)
    if (empty >= EMPTY_PAGES_MAX) throw new BrokenList(`The host has more and more empty pages of ${this.#list}`)
    if (pages >= PAGES_MAX) throw new BrokenList(`The host has more than ${PAGES_MAX} pages of ${this.#list}`)
    if (this.#state.ms >= WALK_MS_MAX) throw new BrokenList(`The host takes too long for the pages of ${this.#list}`)
  }
}
