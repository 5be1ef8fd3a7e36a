import { Alert, Button, Group, Modal, Radio, Stack, Text } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { type FormEvent, useState } from 'react'
import { client } from '../../api/client.ts'
import { useOrganization } from '../../api/session.ts'
import { RepositoryFilter } from '../../list/filters.tsx'
import { saveFile } from '../../page/copy.tsx'
import type { Provider } from '../../page/names.ts'
import { describeProblem } from '../../page/states.tsx'

const FORMATS = [
  { value: 'openvex', label: 'OpenVEX', says: 'OpenVEX 0.2, which Grype, Trivy and Docker Scout read' },
  { value: 'cyclonedx', label: 'CycloneDX', says: 'CycloneDX 1.6 VEX, for Dependency-Track and others' },
] as const

type Format = (typeof FORMATS)[number]['value']

/** A repository by its name, and by its code host where that is known. */
type VexRepository = { name: string; provider: Provider | null }

/** Exports what people and documents have stated about the packages of a repository. */
export function ExportVex({ repository }: { repository: VexRepository | null }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button variant="default" leftSection={<IconDownload size={15} aria-hidden />} onClick={() => setOpen(true)}>
        Export VEX
      </Button>
      <Modal opened={isOpen} onClose={() => setOpen(false)} title="Export VEX">
        <ExportForm given={repository} onDone={() => setOpen(false)} />
      </Modal>
    </>
  )
}

function ExportForm({ given, onDone }: { given: VexRepository | null; onDone: () => void }) {
  const { slug: org } = useOrganization()
  const [name, setName] = useState(given?.name)
  const [format, setFormat] = useState<Format>('openvex')
  const [problem, setProblem] = useState<string | null>(null)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (name === undefined) return setProblem('Choose a repository.')
    const provider = name === given?.name ? given.provider : null
    const query = { repository: name, format, ...(provider && { provider }) }
    try {
      const { data } = await client.GET('/app/api/orgs/{org}/security/vex', { params: { path: { org }, query } })
      saveFile(`${name.replaceAll(/[^\w.-]+/g, '-')}.${format}.json`, `${JSON.stringify(data, null, 2)}\n`)
      onDone()
    } catch (error) {
      setProblem(describeProblem(error))
    }
  }
  return (
    <form onSubmit={submit}>
      <Stack>
        <Text size="sm" c="dimmed">
          A VEX document tells scanners which vulnerabilities do not affect a repository, so that they stop reporting
          what was dismissed here.
        </Text>
        {problem && (
          <Alert color="red" role="alert">
            {problem}
          </Alert>
        )}
        <RepositoryFilter value={name} onChange={setName} />
        <Radio.Group label="Format" value={format} onChange={(value) => setFormat(value as Format)}>
          <Stack gap="xs" mt={6}>
            {FORMATS.map(({ value, label, says }) => (
              <Radio key={value} value={value} label={label} description={says} />
            ))}
          </Stack>
        </Radio.Group>
        <Group justify="flex-end">
          <Button type="submit">Download</Button>
        </Group>
      </Stack>
    </form>
  )
}
