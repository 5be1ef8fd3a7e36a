import { textsOf } from '../../../platform/json/read-value.ts'
import { ReportError } from '../report/parsed-report.ts'
import type { ReportWarnings } from '../report/report-warnings.ts'

/** There is no CycloneDX JSON before 1.2. */
const MINOR_MIN = 2
const MINOR_MAX = 7

/** Refuses what is no CycloneDX 1.x; a minor version newer than those known is read with a warning. */
export function refuseUnlessRead(bomFormat: unknown, specVersion: unknown, schema: unknown, warnings: ReportWarnings) {
  if (bomFormat !== undefined && bomFormat !== 'CycloneDX') {
    throw new ReportError(`The document's \`bomFormat\` is ${shown(bomFormat)}, not "CycloneDX".`, 'cyclonedx')
  }
  const version = versionOf(specVersion, schema)
  if (version === null) throw new ReportError('The CycloneDX document has no `specVersion`.', 'cyclonedx')
  const minor = Number(/^1\.(\d{1,3})$/.exec(version)?.[1] ?? 0)
  if (minor < MINOR_MIN) {
    throw new ReportError(
      `CycloneDX version ${shown(version)} is not read; versions 1.2 to 1.${MINOR_MAX} are.`,
      'cyclonedx',
    )
  }
  if (minor > MINOR_MAX) warnings.add(`CycloneDX ${version} is newer than 1.${MINOR_MAX} and was read as that`)
}

/** Documents of version 1.2 may tell it by their schema alone. */
function versionOf(specVersion: unknown, schema: unknown): string | null {
  if (typeof specVersion === 'string' || typeof specVersion === 'number') return String(specVersion).trim()
  const [, version = null] =
    /\bbom-(\d{1,3}\.\d{1,3})[a-z.-]*\.schema\.json/i.exec(textsOf(schema)[0]?.slice(0, 500) ?? '') ?? []
  return version
}

function shown(value: unknown): string {
  return JSON.stringify(typeof value === 'string' ? value.slice(0, 30) : (value ?? null)).slice(0, 40)
}
