import type { Schema } from '../api/client.ts'

type Run = Pick<Schema<'PipelineRun'>, 'commit_message' | 'workflow_name'>

/** What a run is about: the first line of the commit message, or the workflow. */
export function titleOf({ commit_message, workflow_name }: Run): string {
  return (
    commit_message
      ?.trim()
      .split(/\r?\n|\r/, 1)[0]
      ?.trim() || workflow_name
  )
}
