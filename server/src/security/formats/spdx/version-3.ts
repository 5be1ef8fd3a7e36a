import { textsOf } from '../../../platform/json/read-value.ts'
import { ReportError } from '../report/parsed-report.ts'
import type { ReportWarnings } from '../report/report-warnings.ts'

/** Refuses another major version than 3, which the JSON-LD context tells; a newer minor one is read with a warning. */
export function refuseUnlessVersion3(context: unknown, warnings: ReportWarnings): void {
  const address = contextAddress(context)
  const [, version = '3', major = '3'] = /spdx\.org\/rdf\/v?((\d+)(?:\.\d+){0,2})\//i.exec(address) ?? []
  if (major !== '3') throw new ReportError(`SPDX ${version} is not read; SPDX 2.2, 2.3 and 3.0 are.`, 'spdx')
  if (!/^3(?:\.0(?:\.|$)|$)/.test(version)) warnings.add(`SPDX ${version} is newer than 3.0 and was read as that`)
}

/** The context is an address, or a list in which one is. */
function contextAddress(context: unknown): string {
  return (
    textsOf(context)
      .find((text) => /spdx\.org/i.test(text.slice(0, 300)))
      ?.slice(0, 300) ?? ''
  )
}
