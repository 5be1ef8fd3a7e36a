/** One line for the user, without a stack. Node's errors for several addresses at once have no message of their own. */
export function describeFailure(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return describeFailure(error.errors[0])
  const text = error instanceof Error ? error.message || error.name : String(error)
  return text.replace(/\s*\n\s*/g, ' ')
}
