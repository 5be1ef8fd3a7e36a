import { type JsonObject, objectOf, objectsOf, textOf } from '../../../platform/json/read-value.ts'
import { boundedText, NAME_MAX, VERSION_MAX } from '../../vocabulary/bounded-text.ts'
import type { ReportTool } from '../report/parsed-report.ts'

/**
 * The tool that a document speaks for: the first of `metadata.tools`, which is an array up to 1.4, an object of components and services
 * since. A document that names none is its format's.
 */
export function toolOf(tools: unknown): ReportTool {
  const named = listed(tools).find(({ name }) => textOf(name) !== null)
  return {
    name: boundedText(textOf(named?.name), NAME_MAX) ?? 'CycloneDX',
    version: boundedText(textOf(named?.version), VERSION_MAX),
  }
}

function listed(tools: unknown): JsonObject[] {
  const object = objectOf(tools)
  return object === null ? objectsOf(tools) : [...objectsOf(object.components), ...objectsOf(object.services)]
}
