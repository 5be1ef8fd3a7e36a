import { Button, Code, Group, Stack, Text } from '@mantine/core'
import { IconPencil } from '@tabler/icons-react'
import { CodeEditor } from '../editor/lazy-editor.tsx'
import type { PolicyWithFile } from '../facts/vocabulary.ts'

type PolicyFileTabProps = { policy: PolicyWithFile; onEdit: (() => void) | undefined }

/** The file of the current version. */
export function PolicyFileTab({ policy, onEdit }: PolicyFileTabProps) {
  const { file, definition } = policy.current
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <Text size="sm" c="dimmed">
          {whereToEdit(policy, onEdit !== undefined)}
        </Text>
        {onEdit && (
          <Button variant="default" leftSection={<IconPencil size={16} aria-hidden />} onClick={onEdit}>
            Edit policy
          </Button>
        )}
      </Group>
      {file !== null ? (
        <CodeEditor label={`File of ${policy.name}`} value={file} />
      ) : (
        <>
          <Text size="sm">The file of this version was not stored. This is its content.</Text>
          <Code block>{JSON.stringify(definition, null, 2)}</Code>
        </>
      )}
    </Stack>
  )
}

function whereToEdit({ path, repository }: PolicyWithFile, mayEdit: boolean): string {
  if (path !== null) return `Edit ${path} in ${repository}. A push to the tracked branch applies it.`
  return mayEdit ? 'The file that is in force.' : 'To edit it, you need the permission “Manage policies”.'
}
