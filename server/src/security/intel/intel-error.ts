/** A file of intelligence that is not what it says. The message is one sentence that names the line or the record. */
export class IntelError extends Error {
  override readonly name = 'IntelError'
}
