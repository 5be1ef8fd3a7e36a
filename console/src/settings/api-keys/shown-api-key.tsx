import { Alert, Button, Group, Stack } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import type { paths } from '../../api/schema.ts'
import { CopyBlock, CopyField } from '../../page/copy-field.tsx'
import { exampleOf } from './key-example.ts'

type Created = paths['/app/api/orgs/{org}/api-keys']['post']['responses'][201]['content']['application/json']
export type CreatedKey = Created['data']

/** A new key, which nobody can show again, and how to use it. */
export function ShownApiKey({ created, onClose }: { created: CreatedKey; onClose: () => void }) {
  const example = exampleOf(created, location.origin)
  return (
    <Stack>
      <Alert color="yellow" variant="light" icon={<IconAlertTriangle />} title="Copy the key now" role="status">
        It is shown only this once. Store it as a secret of your CI system or in a password manager.
      </Alert>
      <CopyField label="API key" value={created.key} />
      <CopyBlock label="Try it in a terminal" value={example.terminal} />
      {example.ci && <CopyBlock label="Use it in a job" value={example.ci} />}
      <Group justify="flex-end">
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  )
}
