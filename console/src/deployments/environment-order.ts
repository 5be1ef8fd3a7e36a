/** What the words of an environment's name say about how near it is to production. */
const RANKS: [words: string[], rank: number][] = [
  [['nonprod', 'nonproduction'], 0],
  [['preprod', 'preproduction'], 3],
  [['local', 'sandbox', 'dev', 'develop', 'development', 'preview', 'review', 'pr'], 0],
  [['test', 'testing', 'qa', 'ci', 'integration', 'int'], 1],
  [['uat', 'acceptance', 'demo', 'beta'], 2],
  [['stage', 'staging', 'canary', 'rc'], 3],
  [['prod', 'production', 'live'], 4],
]
const UNKNOWN = 5

/** Environments in the order in which a change passes them: development, staging, production. */
export function orderEnvironments(names: Iterable<string>): string[] {
  return [...new Set(names)].sort((a, b) => rankOf(a) - rankOf(b) || a.localeCompare(b))
}

function rankOf(name: string): number {
  const words = name
    .toLowerCase()
    .replace(/\b(pre|non)[-_ ]?(?=prod)/, '$1')
    .split(/[^a-z]+/)
  return RANKS.find(([known]) => known.some((word) => words.includes(word)))?.[1] ?? UNKNOWN
}
