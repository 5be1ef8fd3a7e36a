/** What the measurement and the baselines read of SARIF 2.1.0. */
export type SarifLog = { runs: SarifRun[] }

type SarifRun = {
  tool: { driver: { name: string; rules?: SarifRule[] } }
  results?: SarifResult[] | null
}

type SarifRule = { id: string; properties?: { tags?: string[] } }

type SarifResult = {
  baselineState?: string
  ruleId?: string
  rule?: { id?: string }
  ruleIndex?: number
  kind?: string
  message?: { text?: string }
  locations?: { physicalLocation?: SarifPhysicalLocation }[]
  partialFingerprints?: Record<string, string>
}

type SarifPhysicalLocation = {
  artifactLocation?: { uri?: string }
  region?: SarifRegion
  contextRegion?: SarifRegion
}

type SarifRegion = {
  startLine?: number
  startColumn?: number
  endLine?: number
  endColumn?: number
  snippet?: { text?: string }
}

/** A place in a file. Lines and columns count from 1. */
export type Place = {
  rule: string
  /** Relative to the repository. */
  path: string
  startLine: number | null
  endLine: number | null
  startColumn: number | null
  endColumn: number | null
}

/** A result of a report, in terms that all trackers of the benchmark share. */
export type ReportedResult = Place & {
  scanner: string
  message: string
  snippet: string | null
  /** Number of the first CWE that the tags of the rule name. */
  cwe: number
  /** `primaryLocationLineHash` that the scanner itself wrote. */
  ownLineHash: string | null
}

/** Kinds of results that are not problems (§3.27.9). */
const NO_PROBLEM = ['pass', 'notApplicable', 'informational']

/** The problems of a report, in its order. Paths are relative to the checkout directory. */
export function readResults(sarif: SarifLog, checkout: string): ReportedResult[] {
  return sarif.runs.flatMap((run) => {
    const problems = (run.results ?? []).filter(
      ({ kind = 'fail', baselineState }) => !NO_PROBLEM.includes(kind) && baselineState !== 'absent',
    )
    return problems.map((result) => readResult(run, result, checkout))
  })
}

function readResult({ tool: { driver } }: SarifRun, result: SarifResult, checkout: string): ReportedResult {
  const rule = driver.rules?.[result.ruleIndex ?? -1]
  const { artifactLocation, region: own, contextRegion } = result.locations?.[0]?.physicalLocation ?? {}
  // kube-score states the line in the context only.
  const region = own?.startLine === undefined ? (contextRegion ?? own) : own
  const startLine = region?.startLine ?? null
  return {
    scanner: driver.name,
    rule: result.ruleId ?? result.rule?.id ?? rule?.id ?? '',
    path: relativePath(artifactLocation?.uri ?? '', checkout),
    startLine,
    endLine: region?.endLine ?? startLine,
    startColumn: region?.startColumn ?? null,
    endColumn: region?.endColumn ?? null,
    message: result.message?.text ?? '',
    snippet: region?.snippet?.text ?? null,
    cwe: cweOf(rule?.properties?.tags ?? []),
    ownLineHash: result.partialFingerprints?.primaryLocationLineHash ?? null,
  }
}

/** The path below the checkout directory, without a scheme, percent-encoding and leading `./`. */
export function relativePath(uri: string, checkout: string): string {
  const path = decoded(uri.replace(/^file:\/\/(?:\/(?=[A-Z]:))?/, ''))
  const below = checkout !== '' && path.startsWith(`${checkout}/`) ? path.slice(checkout.length + 1) : path
  return below.replace(/^(?:\.\/)+/, '')
}

function decoded(uri: string): string {
  try {
    return decodeURIComponent(uri)
  } catch {
    return uri
  }
}

function cweOf(tags: readonly string[]): number {
  for (const tag of tags) {
    const number = /cwe-(\d+)/i.exec(tag)?.[1]
    if (number !== undefined) return Number(number)
  }
  return 0
}

/** Equal for results that cannot be told apart. */
export function placeKey({ rule, path, startLine, endLine, startColumn, endColumn, message }: ReportedResult): string {
  return JSON.stringify([rule, path, startLine, endLine, startColumn, endColumn, message])
}

/** Indexes of these results in the order of their lines, columns and messages. */
export function inPlaceOrder(results: readonly ReportedResult[], indexes = [...results.keys()]): number[] {
  return indexes.toSorted((a, b) => compare(results[a] as ReportedResult, results[b] as ReportedResult))
}

function compare(a: ReportedResult, b: ReportedResult): number {
  return (
    (a.startLine ?? 0) - (b.startLine ?? 0) ||
    (a.startColumn ?? 0) - (b.startColumn ?? 0) ||
    (a.endColumn ?? 0) - (b.endColumn ?? 0) ||
    (a.message < b.message ? -1 : a.message > b.message ? 1 : 0)
  )
}
