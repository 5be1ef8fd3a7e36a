import { type Static, Type } from 'typebox'
import type { HostRunStatus, TriggerKind } from '../../../host-run.ts'
import { Maybe, Text } from '../../../kit/payload.ts'

const Word = Maybe(Type.Object({ name: Maybe(Text), type: Maybe(Text) }))

/** The state of a pipeline or a step. Objects can have the name only as the end of their type. */
export const State = Type.Object({ name: Maybe(Text), type: Maybe(Text), stage: Word, result: Word })

const RESULTS: Readonly<Record<string, HostRunStatus>> = {
  successful: 'success',
  failed: 'failure',
  error: 'failure',
  stopped: 'cancelled',
  expired: 'timed_out',
  not_run: 'skipped',
}

/**
 * A pipeline that is paused before a manual step, or halted until somebody resumes it, is not at
 * its end. A result that we do not know is not a success.
 */
export function statusOf(state: Static<typeof State>): HostRunStatus {
  const result = wordOf(state.result)
  if (result !== null || wordOf(state) === 'completed') return RESULTS[result ?? ''] ?? 'failure'
  return wordOf(state) === 'in_progress' ? 'in_progress' : 'queued'
}

/** `pipeline_step_state_completed_not_run`: types name the object and its state before the word. */
const TYPE_PREFIX = /^pipeline_(?:step_)?(?:state_(?:completed_(?=.)|in_progress_(?=.)|pending_(?=.))?|trigger_)/

/** The name of a state, stage, result or trigger in lower case. */
export function wordOf(named: Static<typeof Word> | undefined): string | null {
  const name = named?.name || named?.type?.replace(TYPE_PREFIX, '')
  return name?.toLowerCase() || null
}

const KINDS: Readonly<Record<string, TriggerKind>> = {
  push: 'push',
  schedule: 'schedule',
  scheduled: 'schedule',
  manual: 'manual',
  parent_step: 'workflow',
}

export function triggerKind(event: string | null, isPullRequest: boolean): TriggerKind {
  if (isPullRequest) return 'pull_request'
  return KINDS[event ?? ''] ?? 'other'
}

/** The states of a build status, by Pipelines or another service. */
const BUILD_STATES: Readonly<Record<string, HostRunStatus>> = {
  SUCCESSFUL: 'success',
  FAILED: 'failure',
  INPROGRESS: 'in_progress',
  STOPPED: 'cancelled',
}

export function buildStatus(state: string): HostRunStatus {
  return BUILD_STATES[state] ?? 'failure'
}
