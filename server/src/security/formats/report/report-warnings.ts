import { boundedText } from '../../vocabulary/bounded-text.ts'

const WARNINGS_MAX = 50
const WARNING_LENGTH_MAX = 300

/** What a person should know about a report that was read all the same. The first fifty are kept, the rest counted. */
export class ReportWarnings {
  readonly #messages = new Set<string>()
  #dropped = 0

  add(message: string): void {
    const text = boundedText(message, WARNING_LENGTH_MAX) ?? ''
    if (this.#messages.has(text)) return
    if (this.#messages.size < WARNINGS_MAX) this.#messages.add(text)
    else this.#dropped++
  }

  list(): string[] {
    return this.#dropped === 0 ? [...this.#messages] : [...this.#messages, `${this.#dropped} more warnings`]
  }
}
