import { summary } from '@actions/core'
import type { Result } from './evidence.ts'

/** Writes the results and the link to the report into the summary of the job. */
export async function writeSummary(jobName: string, url: string, results: Result[]): Promise<void> {
  if (!process.env.GITHUB_STEP_SUMMARY) return
  summary.addRaw(`### [Shiplock report of ${escaped(jobName)}](${url})`, true).addEOL()
  if (results.length > 0) {
    const rows = results.map(({ what, result }) => `| ${escaped(what)} | ${escaped(result)} |`)
    summary.addRaw(['| Evidence | Result |', '|---|---|', ...rows].join('\n'), true)
  }
  await summary.write()
}

/** Names come from files: they must not become Markdown or HTML. */
function escaped(text: string): string {
  return text.replace(/[\\`*_{}[\]<>()#|!~]/g, '\\$&').replace(/\s+/g, ' ')
}
