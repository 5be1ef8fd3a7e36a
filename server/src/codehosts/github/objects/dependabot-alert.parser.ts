import { type Static, Type } from 'typebox'
import { type HostAlert, NO_DETAILS } from '../../host-alert.ts'
import type { HostRepository } from '../../host-repository.ts'
import { dateOrNull, Id, Maybe, readAs, Text, Timestamp, textOrNull } from '../../kit/payload.ts'
import { AlertTimes, dismissalOf, severityOf, timesOf } from './alert-fields.ts'

const Score = Type.Object({ score: Maybe(Type.Number()), vector_string: Maybe(Text) })

const Advisory = Type.Object({
  ghsa_id: Maybe(Text),
  cve_id: Maybe(Text),
  summary: Maybe(Text),
  description: Maybe(Text),
  severity: Maybe(Text),
  cvss: Maybe(Score),
  cvss_severities: Maybe(Type.Object({ cvss_v3: Maybe(Score), cvss_v4: Maybe(Score) })),
  cwes: Maybe(Type.Array(Type.Object({ cwe_id: Text }))),
  references: Maybe(Type.Array(Type.Object({ url: Text }))),
})

const Package = Type.Object({ ecosystem: Text, name: Text })

const Alert = Type.Object({
  ...AlertTimes,
  number: Id,
  html_url: Maybe(Text),
  state: Text,
  auto_dismissed_at: Maybe(Timestamp),
  dependency: Maybe(Type.Object({ package: Maybe(Package), manifest_path: Maybe(Text) })),
  security_advisory: Advisory,
  security_vulnerability: Maybe(
    Type.Object({
      package: Maybe(Package),
      severity: Maybe(Text),
      vulnerable_version_range: Maybe(Text),
      first_patched_version: Maybe(Type.Object({ identifier: Maybe(Text) })),
    }),
  ),
})

type AlertObject = Static<typeof Alert>

export function parseDependabotAlert(value: unknown, repository: HostRepository): HostAlert {
  const alert = readAs(Alert, value)
  const { security_advisory: advisory, security_vulnerability: vulnerability } = alert
  const ghsaId = textOrNull(advisory.ghsa_id)
  const cveId = textOrNull(advisory.cve_id)
  const path = textOrNull(alert.dependency?.manifest_path)
  return {
    ...NO_DETAILS,
    ...timesOf(alert),
    repository,
    type: 'dependabot',
    number: alert.number,
    ...statusOf(alert),
    severity: severityOf(vulnerability?.severity) ?? severityOf(advisory.severity) ?? 'medium',
    title: textOrNull(advisory.summary) ?? cveId ?? ghsaId ?? 'Dependabot alert',
    description: textOrNull(advisory.description),
    url: textOrNull(alert.html_url),
    references: (advisory.references ?? []).map(({ url }) => url),
    rule_id: ghsaId,
    tool_name: 'Dependabot',
    cwes: (advisory.cwes ?? []).map(({ cwe_id }) => cwe_id),
    package: packageOf(alert),
    cve_id: cveId,
    ghsa_id: ghsaId,
    advisory_url: ghsaId && `https://github.com/advisories/${ghsaId}`,
    cvss: cvssOf(advisory),
    location: path === null ? null : { path, start_line: null, end_line: null, start_column: null, end_column: null },
  }
}

/** GitHub dismisses some alerts by itself (`auto_dismissed`). */
function statusOf(alert: AlertObject): Pick<HostAlert, 'status' | 'dismissal'> {
  if (alert.state === 'auto_dismissed') {
    const at = dateOrNull(alert.auto_dismissed_at)
    return { status: 'dismissed', dismissal: { by: null, reason: 'auto_dismissed', comment: null, at } }
  }
  if (alert.state === 'dismissed') return { status: 'dismissed', dismissal: dismissalOf(alert) }
  return { status: alert.state === 'fixed' ? 'fixed' : 'open', dismissal: null }
}

function packageOf({ dependency, security_vulnerability: vulnerability }: AlertObject): HostAlert['package'] {
  const named = dependency?.package ?? vulnerability?.package
  if (!named) return null
  return {
    ...named,
    vulnerable_versions: textOrNull(vulnerability?.vulnerable_version_range),
    patched_version: textOrNull(vulnerability?.first_patched_version?.identifier),
    manifest_path: textOrNull(dependency?.manifest_path),
  }
}

/** The newest version of CVSS that the advisory was rated with. 0 and null stand for no rating. */
function cvssOf({ cvss, cvss_severities: versions }: Static<typeof Advisory>): HostAlert['cvss'] {
  const rated = [versions?.cvss_v4, versions?.cvss_v3, cvss].find((score) => score?.vector_string || score?.score)
  if (!rated) return null
  const vector = textOrNull(rated.vector_string)
  return { version: /^CVSS:(\d\.\d)\//.exec(vector ?? '')?.[1] ?? null, score: rated.score || null, vector }
}
