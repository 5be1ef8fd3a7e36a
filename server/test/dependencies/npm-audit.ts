import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

export type Advisory = { name: string; severity: string; range: string; direct: boolean }

/** `null`: the registry does not offer the audit, such as a mirror that only has packages. */
export type AuditResult = { advisories: Advisory[] } | null

const ARGUMENTS = ['audit', '--omit=dev', '--audit-level=high', '--json', '--fetch-retries=0', '--fetch-timeout=30000']
const SERIOUS = ['high', 'critical']

/** Asks the registry for known vulnerabilities of what is installed in production. */
export async function auditByRegistry(cwd: string): Promise<AuditResult> {
  const child = spawn('npm', ARGUMENTS, { cwd, stdio: ['ignore', 'pipe', 'ignore'] })
  const [printed] = await Promise.all([text(child.stdout), once(child, 'close')])
  return readAudit(printed)
}

/** What npm prints: a report of version 2, or an object with the message of an error. */
export function readAudit(printed: string): AuditResult {
  const report = parse(printed)
  if (report?.auditReportVersion !== 2) return null
  const found = Object.values(report.vulnerabilities ?? {}).filter(({ severity }) => SERIOUS.includes(severity))
  return {
    advisories: found.map(({ name, severity, range, isDirect }) => ({ name, severity, range, direct: isDirect })),
  }
}

type Vulnerability = { name: string; severity: string; range: string; isDirect: boolean }
type Report = { auditReportVersion?: number; vulnerabilities?: Record<string, Vulnerability> }

function parse(printed: string): Report | null {
  try {
    return JSON.parse(printed)
  } catch {
    return null
  }
}
