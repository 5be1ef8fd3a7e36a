/** A command of the program. */
export type Command = {
  name: string
  /** One line for the list of commands. */
  summary: string
  /** The text of `shiplock <command> --help`. */
  help: string
  /**
   * Returns the exit code: 0 if the command succeeded, 1 if not. Throws a `UsageError` for a wrong
   * call, which is exit code 2.
   */
  run(args: string[]): Promise<number>
}

/** A wrong call. Its message is one line. */
export class UsageError extends Error {}
