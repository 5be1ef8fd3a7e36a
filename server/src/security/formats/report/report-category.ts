const CATEGORY_MAX = 100

/**
 * The stream that a report names itself, by its runs' SARIF `automationDetails.id` (§3.17.3): the id without its last part, which tells
 * one execution from the next. Null when there is none, or when the runs disagree.
 */
export function reportCategory(automationIds: (string | null)[]): string | null {
  const categories = new Set(automationIds.map(categoryOf))
  const [category = null] = categories
  return categories.size === 1 ? category : null
}

/** Only letters, digits and `. _ / : -` may stand in a category. */
function categoryOf(automationId: string | null): string | null {
  const end = automationId?.lastIndexOf('/') ?? -1
  if (automationId === null || end <= 0) return null
  return automationId
    .slice(0, end)
    .replace(/[^A-Za-z0-9._/:-]+/g, '-')
    .slice(0, CATEGORY_MAX)
}
