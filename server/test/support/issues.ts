import type { Caller, TestApi } from './api.ts'
import type { Json } from './json.ts'

/** One page of unique issues, at most 1,000, newest first. */
export async function listIssues(api: TestApi, { key }: Caller, query: Record<string, string> = {}): Promise<Json[]> {
  const parameters = new URLSearchParams({ limit: '1000', ...query })
  const { status, body, text } = await api.request('GET', `/v1/security/issues?${parameters}`, { key })
  if (status !== 200) throw new Error(`listIssues answered ${status}: ${text}`)
  return body.data
}

/** The issue of an organization that has one. */
export async function onlyIssue(api: TestApi, caller: Caller): Promise<Json> {
  const issues = await listIssues(api, caller)
  if (issues.length !== 1) throw new Error(`There are ${issues.length} issues`)
  return issues[0]
}

/** A bill of materials by one tool, of one package with these vulnerabilities. */
export function bom(tool: string, purl: string, vulnerabilities: { id: string; severity?: string }[]) {
  const [, name, version] = /([^/]+)@(.+)$/.exec(purl) ?? []
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { tools: { components: [{ type: 'application', name: tool, version: '1.0.0' }] } },
    components: [{ type: 'library', name, version, purl, 'bom-ref': 'a' }],
    vulnerabilities: vulnerabilities.map(({ id, severity = 'high' }) => ({
      id,
      affects: [{ ref: 'a' }],
      ratings: [{ severity }],
    })),
  }
}

/** A SARIF result about a package's vulnerability, without a place. */
export function packageResult(ruleId: string, purl: string, properties: Record<string, unknown> = {}) {
  return { ruleId, message: { text: `${ruleId} in ${purl}` }, properties: { purl, ...properties } }
}

/** A SARIF result for lines of a file, with the text of these lines. */
export function codeResult(ruleId: string, uri: string, [startLine, endLine]: [number, number], text?: string) {
  const region = { startLine, endLine, ...(text !== undefined && { snippet: { text } }) }
  return {
    ruleId,
    message: { text: `${ruleId} was violated` },
    locations: [{ physicalLocation: { artifactLocation: { uri }, region } }],
  }
}
