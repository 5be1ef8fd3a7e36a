import type { Shiplock } from '../setting.ts'
import { type Answer, answer } from './issue-score.ts'
import type { JudgedPair } from './judged-pairs.ts'
import { type StoredFinding, UploadedRepository } from './shiplock-findings.ts'
import { readHistory, type Selection } from './tracking-data.ts'

/** Uploads all reports of each judged commit of a repository, and asks for the pairs' issues. */
export async function measureIssues(
  shiplock: Shiplock,
  { data }: Selection,
  repository: string,
  pairs: readonly JudgedPair[],
): Promise<Answer[]> {
  const history = readHistory({ data, repository, tool: null }, repository)
  const answers: Answer[] = []
  for (const [commit, judged] of Map.groupBy(pairs, (pair) => pair.commit)) {
    const n = history.commits.findIndex((sha) => sha.startsWith(commit))
    const uploaded = await UploadedRepository.create(shiplock, `issues-${commit.slice(0, 7)}`, history)
    const tools: string[] = []
    for (const { tool, reports } of history.scans) {
      const report = reports.get(n)
      if (report === undefined) continue
      await uploaded.upload(tool, report)
      tools.push(tool)
    }
    const findings = new Map<string, StoredFinding[]>()
    for (const tool of tools) findings.set(tool, await uploaded.findings(tool))
    answers.push(...judged.map((pair) => answer(pair, findings)))
  }
  return answers
}
