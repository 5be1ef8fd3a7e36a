import { Type } from 'typebox'
import { shortened } from '../../../platform/shortened.ts'
import { HostRefusal } from '../../code-host.ts'
import { Maybe, readAs, Text } from '../../kit/payload.ts'
import { restPath } from '../../kit/rest-client.ts'
import { projectPath, type Session } from '../client/session.ts'
import { mergeRequestOf } from '../objects/pipeline-words.ts'

const NOTE_CHARS_MAX = 100_000

const Pipeline = Type.Object({ sha: Text, ref: Maybe(Text) })

type Target = { repository: { id: string; full_name: string }; run_id: string }

/**
 * Writes a note on the merge request that a pipeline is for, else on its commit. A note that is
 * there already is not written again.
 */
export async function postNote({ api }: Session, { repository, run_id }: Target, text: string): Promise<void> {
  const project = projectPath(repository)
  const found = await api.read(`${project}${restPath`/pipelines/${run_id}`}`)
  if (found === null) throw new HostRefusal(404, `GitLab has no pipeline ${run_id}.`)
  const { sha, ref } = readAs(Pipeline, found)
  const note = shortened(text, NOTE_CHARS_MAX)
  const number = mergeRequestOf(ref)
  const [path, field] =
    number === null
      ? [`${project}${restPath`/repository/commits/${sha}/comments`}`, 'note']
      : [`${project}${restPath`/merge_requests/${number}/notes`}`, 'body']
  const written = await api.readAll(path, {}, textOfNote)
  if (!written.includes(note)) await api.send('POST', path, { [field]: note })
}

const Note = Type.Object({ note: Maybe(Text), body: Maybe(Text) })

/** Comments on commits have `note`, notes on merge requests `body`. */
function textOfNote(value: unknown): string | null {
  const { note, body } = readAs(Note, value)
  return note ?? body ?? null
}
