import { Type } from 'typebox'
import type { HostRepository } from '../../../host-repository.ts'
import type { HostCheck } from '../../../host-run.ts'
import { dateOrNull, Maybe, readAs, Text, Timestamp, textOrNull } from '../../../kit/payload.ts'
import { buildStatus } from './pipeline-words.ts'

const BuildStatus = Type.Object({
  key: Text,
  name: Maybe(Text),
  state: Text,
  url: Maybe(Text),
  created_on: Maybe(Timestamp),
  updated_on: Maybe(Timestamp),
})

const PIPELINES = 'bitbucket-pipelines'
/** The forms of the address of a pipeline. */
const RESULT_PATH = /\/(?:addon\/)?pipelines\/(?:home#!\/)?results\/([1-9]\d{0,15})(?:[/?]|$)/

/**
 * A build status of a commit. Those of Pipelines have the number of the pipeline in their name, so
 * they have one name of their own.
 */
export function parseBuildStatus(value: unknown, repository: HostRepository, commitSha: string): HostCheck {
  const reported = readAs(BuildStatus, value)
  const status = buildStatus(reported.state)
  const isPipeline = pipelineNumber(reported.url, repository.full_name) !== null
  return {
    repository,
    commit_sha: commitSha,
    id: reported.key,
    name: isPipeline ? PIPELINES : (textOrNull(reported.name) ?? reported.key),
    source: isPipeline ? PIPELINES : 'commit_status',
    status,
    url: textOrNull(reported.url),
    started_at: dateOrNull(reported.created_on),
    completed_at: status === 'in_progress' ? null : dateOrNull(reported.updated_on),
  }
}

/**
 * The number of the pipeline of this repository that a build status leads to. Anyone who may write
 * build statuses chooses the address, so it only says which pipeline is to be read.
 */
export function pipelineNumber(address: string | null | undefined, fullName: string): string | null {
  if (!address || !URL.canParse(address)) return null
  const { pathname, hash } = new URL(address)
  const prefix = `/${fullName.toLowerCase()}/`
  if (!pathname.toLowerCase().startsWith(prefix)) return null
  return RESULT_PATH.exec(`${pathname.slice(prefix.length - 1)}${hash}`)?.[1] ?? null
}
