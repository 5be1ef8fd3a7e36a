import { textsOf } from '../../../platform/json/read-value.ts'
import { boundedText, NAME_MAX, VERSION_MAX } from '../../vocabulary/bounded-text.ts'
import type { ReportTool } from '../report/parsed-report.ts'

const TOOL = /^\s{0,20}tool:/i
const NAME_READ_MAX = NAME_MAX + VERSION_MAX

/** The tool of a `creator` (SPDX 2.3 §6.8): `Tool: syft-1.50.0`. SPDX calls the part behind the last name a version. */
export function toolOfCreators(creators: unknown): ReportTool {
  return toolOfName(textsOf(creators).find((creator) => TOOL.test(creator.slice(0, 50))) ?? null)
}

/** Name and version of `syft-1.50.0` or `Tool: syft-1.50.0`; a document that names no tool is its format's. */
export function toolOfName(text: string | null): ReportTool {
  const name = text?.slice(0, NAME_READ_MAX).replace(TOOL, '').trim() ?? ''
  const at = name.search(/[-\s]v?\d/)
  if (at <= 0) return { name: boundedText(name, NAME_MAX) ?? 'SPDX', version: null }
  return {
    name: boundedText(name.slice(0, at), NAME_MAX) ?? 'SPDX',
    version: boundedText(name.slice(at + 1).replace(/^v(?=\d)/, ''), VERSION_MAX),
  }
}
