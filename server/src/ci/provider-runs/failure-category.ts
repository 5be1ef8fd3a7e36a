import type { RunStatus } from '../runs/run-status.ts'

const FAILURE_CATEGORIES = [
  'test',
  'build',
  'lint',
  'dependency',
  'timeout',
  'infrastructure',
  'cancelled',
  'unknown',
] as const
export type FailureCategory = (typeof FAILURE_CATEGORIES)[number]

/** What is known of a failed job. */
type FailedJob = {
  /** The status of the run's attempt. */
  status: RunStatus
  /** The names of the job's failed steps, and of the job itself. */
  names: string[]
  /** The lines of the failed step, and the messages that the host attached to the job. */
  lines: string[]
}

type Rule = [category: FailureCategory, patterns: RegExp[]]

/** The job was stopped because it took too long, or the machine failed. */
const ENDED_FROM_OUTSIDE: Rule[] = [
  [
    'timeout',
    [
      /exceeded the maximum execution time/i,
      /\bhas timed out after \d+ (?:second|minute|hour)/i,
      /\bjob failed: execution took longer than\b/i,
    ],
  ],
  [
    'infrastructure',
    [
      /\brunner has received a shutdown signal/i,
      /\blost communication with the server/i,
      /\brunner encountered an error while running your job/i,
      /\bno space left on device\b/i,
      /\bprocess completed with exit code 137\b/i,
      /\bheap out of memory\b/i,
      /\bcannot connect to the docker daemon\b/i,
    ],
  ],
]

/** What tools write about their own failure. The first rule that matches a line decides. */
const OUTPUT: Rule[] = [
  [
    'test',
    [
      /\bAssertionError\b/,
      /^FAILED \S+/,
      /={3} .{0,200}\b\d+ (?:failed|errors?)\b/,
      /^\s{0,20}(?:Tests|Test Suites|Test Files):?\s{1,10}(?:.{0,60}\s)?\d+ failed\b/,
      /^\s{0,20}\d+ (?:failing|failed)\b/,
      /^\s{0,20}--- FAIL: /,
      /^FAIL\s(?!.{0,300}\[(?:build|setup) failed\])/,
      /^\s{0,20}not ok \d+/,
      /^(?:#|ℹ) fail [1-9]/,
      /\bTests run: \d+, Failures: (?:[1-9]\d*|0, Errors: [1-9])/,
      /\bThere (?:were|are) (?:failing tests|test failures)\b/,
      /\b\d+ examples?, [1-9]\d* failures?\b/,
      /\btest result: FAILED\b/,
      /^(?:FAILURES|ERRORS)!$/,
      /^Failed!\s{1,5}- Failed:\s{1,10}\d/,
      /\btests passed, [1-9]\d* tests? failed out of\b/,
    ],
  ],
  [
    'lint',
    [
      /✖ \d+ problems?\b/,
      /\bCode style issues (?:were )?found\b/,
      /\bSome errors were emitted while running checks\b/,
      /^\S{1,300}\.py:\d+:\d+: [A-Z]{1,4}\d{3,4}\b/,
      /^would reformat /,
      /\bYour code has been rated at\b/,
      /^Found \d+ errors? in \d+ files? \(checked \d+/,
      /\b[1-9]\d* offenses? detected\b/,
      /\bSC\d{4}\b.{0,10}\((?:error|warning|info|style)\)/,
      /\bclippy::/,
      /\bcheckstyle (?:rule )?violations\b/i,
      /^\S{1,300}:\d+(?::\d+)? DL\d{4}\b/,
    ],
  ],
  [
    'infrastructure',
    [
      /\bcould not resolve host\b/i,
      /\btemporary failure in name resolution\b/i,
      /\b(?:ECONNRESET|ETIMEDOUT|EAI_AGAIN)\b/,
      /\bconnection (?:timed out|reset by peer)\b/i,
      /\b50[234] (?:bad gateway|service (?:temporarily )?unavailable|gateway time-?out)\b/i,
      /\btoomanyrequests\b/i,
      /\brate limit exceeded\b/i,
    ],
  ],
  [
    'dependency',
    [
      /\bnpm (?:ERR!|error) code (?:ERESOLVE|E40[134]|ETARGET|EINTEGRITY|EUSAGE|EBADENGINE)\b/,
      /\bcould not resolve dependenc(?:y|ies)\b/i,
      /\bunable to resolve dependency tree\b/i,
      /\bERR_PNPM_(?:OUTDATED_LOCKFILE|NO_MATCHING_VERSION|FETCH_\d+|PEER_DEP_ISSUES)\b/,
      /\byour lockfile needs to be updated\b/i,
      /\blockfile would have been modified\b/i,
      /\bno matching distribution found\b/i,
      /\bcould not find a version that satisfies\b/i,
      /\bResolutionImpossible\b/,
      /\bcould not find (?:gem|compatible versions)\b/i,
      /\bfailed to select a version for\b/i,
      /\bmissing go\.sum entry\b/,
      /^go: .{0,300}\b(?:unknown revision|not found)\b/,
      /\bcould not (?:find|transfer) artifact\b/i,
      /\bcould not resolve all (?:files|dependencies|artifacts)\b/i,
      /\berror NU1\d{3}\b/,
      /^E: Unable to locate package\b/,
      /\byour requirements could not be resolved\b/i,
    ],
  ],
  [
    'build',
    [
      /\berror TS\d{4,5}\b/,
      /\berror\[E\d{4}\]/,
      /\berror: could not compile\b/,
      /\berror CS\d{4}\b/,
      /\bundefined reference to\b/,
      /\bfatal error: .{0,300}: No such file or directory\b/,
      /\bCOMPILATION ERROR\b/,
      /\bcompilation failed\b/i,
      /\bcannot find symbol\b/,
      /\[(?:build|setup) failed\]/,
      /\bModule not found: /,
      /\bfailed to compile\b/i,
      /\bbuild failed\b/i,
      /\berror during build\b/i,
      /\bSyntaxError: /,
      /\bmake(?:\[\d+\])?: \*\*\* /,
      /\bninja: build stopped\b/,
      /\bfailed to solve: /,
    ],
  ],
]

/** What the names of steps and jobs say, if the output says nothing. */
const NAMES: Rule[] = [
  ['dependency', [/\b(?:install|restore|dependenc(?:y|ies)|npm ci|bundle)\b/i]],
  ['lint', [/\b(?:lint|eslint|format|prettier|biome|ruff|flake8|mypy|rubocop|clippy|style|type-?check)\b/i]],
  ['test', [/\b(?:tests?|testing|spec|specs|e2e|jest|pytest|vitest|coverage)\b/i]],
  ['build', [/\b(?:build|compile|package|make|docker)\b/i]],
]

/**
 * Why a job failed (docs/runs.md): by how it was ended, by its output, and by the names of its
 * failed steps, in this order.
 */
export function classifyFailure({ status, names, lines }: FailedJob): FailureCategory {
  const outside = firstMatch(ENDED_FROM_OUTSIDE, lines)
  if (status === 'timed_out') return 'timeout'
  if (status === 'cancelled') return outside === 'timeout' ? 'timeout' : 'cancelled'
  return outside ?? firstMatch(OUTPUT, lines) ?? nameMatch(names) ?? 'unknown'
}

function firstMatch(rules: readonly Rule[], lines: readonly string[]): FailureCategory | null {
  const rule = rules.find(([, patterns]) => lines.some((line) => patterns.some((pattern) => pattern.test(line))))
  return rule?.[0] ?? null
}

/** The first name with a meaning decides: failed steps come before their job. */
function nameMatch(names: readonly string[]): FailureCategory | null {
  for (const name of names) {
    const category = firstMatch(NAMES, [name])
    if (category !== null) return category
  }
  return null
}
