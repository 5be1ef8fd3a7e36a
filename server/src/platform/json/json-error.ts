/**
 * The text is not JSON, or exceeds a limit. `offset` counts bytes of the UTF-8 text without byte
 * order mark.
 */
export class JsonError extends Error {
  override readonly name = 'JsonError'
  readonly offset: number

  constructor(reason: string, offset: number) {
    super(`${reason} (at byte ${offset})`)
    this.offset = offset
  }
}
