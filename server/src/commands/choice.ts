import { UsageError } from './command.ts'

/** The value of an option that has few. Throws a `UsageError` with the ones there are. */
export function requireOneOf<Choice extends string>(option: string, text: string, choices: readonly Choice[]): Choice {
  const choice = choices.find((known) => known === text)
  if (choice !== undefined) return choice
  throw new UsageError(`--${option} must be one of ${choices.join(', ')}, not "${text}"`)
}
