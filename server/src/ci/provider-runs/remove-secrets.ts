const MASK = '***'

/**
 * The shapes of known secrets. Each starts with fixed characters and has no part that can be
 * matched in two ways, so that the time is linear for lines of bounded length.
 */
const TOKENS = [
  // Shiplock
  /\bshl_(?:live|dev|gate)_[\w.-]{8,}/g,
  // Code hosts
  /\bgh[oprsu]_\w{16,}/g,
  /\bgithub_pat_\w{16,}/g,
  /\bgl[a-z]{2,6}-[\w-]{16,}/g,
  /\bATBB\w{16,}/g,
  // Clouds
  /\b(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{12,}/g,
  /\bAIza[\w-]{30,}/g,
  /\bya29\.[\w-]{16,}/g,
  /\bdo[opr]_v1_[0-9a-f]{32,}/g,
  // Registries
  /\bnpm_\w{30,}/g,
  /\bpypi-[\w-]{30,}/g,
  /\brubygems_[0-9a-f]{32,}/g,
  /\bdckr_pat_[\w-]{16,}/g,
  // Services
  /\bxox[abeoprs]-[\w-]{10,}/g,
  /\bxapp-[\w-]{16,}/g,
  /\b[prs]k_(?:live|test)_\w{10,}/g,
  /\bwhsec_[\w+/=]{16,}/g,
  /\bsk-[\w-]{20,}/g,
  /\bhf_\w{30,}/g,
  /\bSG\.[\w-]{16,}\.[\w-]{16,}/g,
  /\bhv[brs]\.[\w-]{20,}/g,
  // JSON Web Tokens
  /\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*/g,
]

const URL_PASSWORD = /(\b[a-z][a-z0-9+.-]{1,20}:\/\/)(?!git@)[^\s/?#]{1,600}@/gi
const AUTHORIZATION =
  /(\bauthorization["']?\s{0,3}[:=]\s{0,3}["']?)(?:(?:basic|bearer|token|digest)\s{1,3})?[^\s"',;]{3,}/gi
const BEARER = /(\bbearer\s{1,3})[\w.~+/=-]{8,}/gi
/** `password=…`, `"api_key": "…"`, `NPM_TOKEN=…` */
const ASSIGNMENT =
  /((?:pass(?:word|wd|phrase)?|pwd|secret|token|credentials?|(?:api|access|account|private|signing|encryption|sharedaccess)[_-]?key|connection[_-]?string|[?&]sig)["']?\s{0,3}[:=]\s{0,3}["']?)[^\s"',;&*]{6,}/gi

const KEY_START = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY/
const KEY_END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----/
const KEY_LINE = /^\s{0,20}[\w+/=]{16,}\s{0,5}$/

/** Replaces the secrets in lines of a log by `***`. */
export function removeSecrets(lines: readonly string[]): string[] {
  return maskPrivateKeys(lines).map(maskLine)
}

function maskLine(line: string): string {
  const masked = line
    .replace(URL_PASSWORD, `$1${MASK}@`)
    .replace(AUTHORIZATION, `$1${MASK}`)
    .replace(BEARER, `$1${MASK}`)
    .replace(ASSIGNMENT, `$1${MASK}`)
  return TOKENS.reduce((text, token) => text.replace(token, MASK), masked)
}

/** Replaces each private key by one line, also if the log has only its start or its end. */
function maskPrivateKeys(lines: readonly string[]): string[] {
  const masked: string[] = []
  let inKey = false
  for (const line of lines) {
    const end = KEY_END.exec(line)
    const start = KEY_START.exec(line)
    if (end !== null && start === null && !inKey) while (KEY_LINE.test(masked.at(-1) ?? '')) masked.pop()
    if (start !== null || end !== null || !inKey) masked.push(withoutKey(line, start, end))
    inKey = start !== null ? end === null || end.index < start.index : inKey && end === null
  }
  return masked
}

/** A line without the part of a private key that it contains. */
function withoutKey(line: string, start: RegExpExecArray | null, end: RegExpExecArray | null): string {
  if (start === null && end === null) return line
  const before = start === null ? '' : line.slice(0, start.index)
  const after = end === null ? '' : line.slice(end.index + end[0].length)
  return `${before}${MASK}${after}`
}
