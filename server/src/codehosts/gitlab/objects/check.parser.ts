import { Type } from 'typebox'
import type { HostRepository } from '../../host-repository.ts'
import type { HostCheck } from '../../host-run.ts'
import { dateOrNull, Id, Maybe, readAs, Text, Timestamp, textOrNull } from '../../kit/payload.ts'
import { isOpen, statusOf } from './pipeline-words.ts'

/** The newest status of a commit under one name: a job, or what another service reported. */
const CommitStatus = Type.Object({
  id: Id,
  name: Text,
  status: Text,
  target_url: Maybe(Text),
  created_at: Maybe(Timestamp),
  started_at: Maybe(Timestamp),
  finished_at: Maybe(Timestamp),
})

const JOB_PAGE = /\/-\/jobs\/\d+$/

export function parseCommitStatus(value: unknown, repository: HostRepository, commitSha: string): HostCheck {
  const found = readAs(CommitStatus, value)
  const status = statusOf(found.status)
  const url = textOrNull(found.target_url)
  return {
    repository,
    commit_sha: commitSha,
    id: String(found.id),
    name: found.name,
    source: url !== null && JOB_PAGE.test(url) ? 'gitlab-ci' : 'commit_status',
    status,
    url,
    started_at: dateOrNull(found.started_at ?? found.created_at),
    completed_at: isOpen(status) ? null : dateOrNull(found.finished_at),
  }
}
