import type { Log } from '../../platform/log.ts'

/** Reads a part of an answer. Null: it is none of those that are wanted. */
export type Parse<Item> = (value: unknown) => Item | null

/** Parses the parts of the answers of a host. The APIs of all hosts extend it. */
export class AnswerParser {
  readonly log: Log
  readonly #host: string

  /** `host` is the name of the host in the log. */
  constructor(host: string, log: Log) {
    this.#host = host
    this.log = log
  }

  /** An item that cannot be read is left out, so that it does not hide the others. */
  parseItems<Item>(values: readonly unknown[], parse: Parse<Item>): Item[] {
    return values.flatMap((value) => this.parseItem(value, parse) ?? [])
  }

  /** Null for a value that cannot be read, with a warning. */
  parseItem<Item>(value: unknown, parse: Parse<Item>): Item | null {
    try {
      return parse(value)
    } catch (error) {
      this.log.warn({ reason: (error as Error).message }, `A part of an answer of ${this.#host} cannot be read`)
      return null
    }
  }
}
