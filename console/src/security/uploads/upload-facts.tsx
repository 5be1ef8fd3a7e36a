import { Code } from '@mantine/core'
import { Facts } from '../../page/facts.tsx'
import { formatSize } from '../../page/numbers.ts'
import { PROVIDER_NAMES } from '../../page/provider-names.ts'
import { Section } from '../../page/section.tsx'
import { Time } from '../../page/time.tsx'
import type { SecurityUpload } from './upload-item.ts'
import { FORMAT_NAMES, ORIGIN_NAMES } from './upload-words.ts'

/** The fields of an upload. */
export function UploadFacts({ upload }: { upload: SecurityUpload }) {
  const { format, provider, git_ref, commit_sha, category, created_by, origin, tracked } = upload
  return (
    <Section title="Report">
      <Facts
        facts={[
          ['Repository', `${upload.repository}${provider ? ` on ${PROVIDER_NAMES[provider]}` : ''}`],
          ['Branch or tag', git_ref ?? 'Not known'],
          ['Commit', commit_sha && <Code>{commit_sha}</Code>],
          ['Opens issues', tracked ? 'Yes' : 'No: it is not the tracked branch'],
          ['Format', format ? FORMAT_NAMES[format] : 'Not detected'],
          ['Category', category],
          ['Size', formatSize(upload.size)],
          ['Sent by', created_by === null ? ORIGIN_NAMES[origin] : `${created_by.name} (${ORIGIN_NAMES[origin]})`],
          ['Created', <Time key="created" at={upload.created_at} format="absolute" />],
          ['Last changed', <Time key="changed" at={upload.updated_at} format="absolute" />],
        ]}
      />
    </Section>
  )
}
