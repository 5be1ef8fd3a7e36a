/** Something wrong with a policy file: where, and what to do about it. */
export type PolicyMistake = { line: number; path: string; message: string }

/** All mistakes in a policy file at once. The message has a line for each. */
export class PolicyFileError extends Error {
  readonly mistakes: PolicyMistake[]

  constructor(mistakes: PolicyMistake[]) {
    const sorted = [...mistakes].sort((one, other) => one.line - other.line)
    super(
      sorted.map(({ line, path, message }) => `line ${line}: ${path === '' ? '' : `${path}: `}${message}`).join('\n'),
    )
    this.mistakes = sorted
  }
}
