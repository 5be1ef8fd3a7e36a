import * as v from 'valibot'
import { api } from '../../api/client.ts'
import { listQuery } from '../../api/queries.ts'
import { choice, repositoryName, text } from '../../list/search-params.ts'
import { PROVIDERS } from '../../page/names.ts'
import { FORMATS, isBeingRead, UPLOAD_STATUSES } from './upload-words.ts'

const READING_MS = 2000

export const UploadSearch = v.object({
  // The filters of the list.
  status: choice(UPLOAD_STATUSES),
  repository: repositoryName(),
  // What the next reports are about.
  to: text(300),
  host: choice(PROVIDERS),
  ref: text(255),
  commit: text(40),
  format: choice(FORMATS),
  category: text(100),
})
type UploadFilters = Pick<v.InferOutput<typeof UploadSearch>, 'status' | 'repository'>

/** The uploads that match the filters. */
export function uploadsQuery(org: string, { status, repository }: UploadFilters) {
  return listQuery('/app/api/orgs/{org}/security/uploads', {
    path: { org },
    query: { status, repository, limit: 50 },
  })
}

/** The streams of findings, all or those of a repository. */
export function streamsQuery(org: string, { repository }: Pick<UploadFilters, 'repository'>) {
  return listQuery('/app/api/orgs/{org}/security/streams', { path: { org }, query: { repository, limit: 50 } })
}

/** An upload, again and again while it is being read. */
export function uploadQuery(org: string, id: string) {
  return api.queryOptions(
    'get',
    '/app/api/orgs/{org}/security/uploads/{uploadId}',
    { params: { path: { org, uploadId: id } } },
    { refetchInterval: ({ state }) => (isBeingRead(state.data?.data) ? READING_MS : false) },
  )
}
