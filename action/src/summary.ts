import { summary } from '@actions/core'

/** Writes the results and the link to the report into the summary of the job. */
export async function writeSummary(jobName: string, url: string, lines: string[]): Promise<void> {
  if (!process.env.GITHUB_STEP_SUMMARY) return
  summary.addRaw(`### [Shiplock report of ${escaped(jobName)}](${url})`, true).addEOL()
  for (const line of lines) summary.addRaw(`- ${escaped(line)}`, true)
  await summary.write()
}

/** Names come from files: they must not become Markdown or HTML. */
function escaped(text: string): string {
  return text.replace(/[\\`*_{}[\]<>()#|!~]/g, '\\$&').replace(/\s+/g, ' ')
}
