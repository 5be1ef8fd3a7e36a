import { Alert, Button, Group, List, Text } from '@mantine/core'
import { IconFileAlert, IconFiles } from '@tabler/icons-react'
import { formatCount } from '../../page/numbers.ts'
import type { Selection } from './dropped-files.ts'

const SHOWN_MAX = 5

type NotesProps = {
  selection: Selection
  /** An empty folder was dropped. */
  isNothing: boolean
  onClear: () => void
}

/** Says which files wait for the repository, and which were skipped. */
export function SelectionNotes({ selection, isNothing, onClear }: NotesProps) {
  const { files, skipped } = selection
  return (
    <div role="status">
      {isNothing && (
        <Alert color="gray" variant="light" icon={<IconFileAlert />} title="Nothing to upload" mt="sm">
          <Text size="sm">The folder is empty.</Text>
        </Alert>
      )}
      {files.length > 0 && (
        <Alert color="yellow" variant="light" icon={<IconFiles />} title={`${count(files.length)} ready`} mt="sm">
          <Paths paths={files.map(({ path }) => path)} />
          <Group gap="sm" mt={6}>
            <Text size="sm">Choose the repository that they are about, then upload.</Text>
            <Button size="compact-sm" variant="default" onClick={onClear}>
              Remove
            </Button>
          </Group>
        </Alert>
      )}
      {skipped.length > 0 && (
        <Alert color="gray" variant="light" icon={<IconFileAlert />} title={`${count(skipped.length)} skipped`} mt="sm">
          <Text size="sm">Of folders, only files with the names of reports are uploaded, and no hidden ones.</Text>
          <Paths paths={skipped} />
        </Alert>
      )}
    </div>
  )
}

function Paths({ paths }: { paths: readonly string[] }) {
  const more = paths.length - SHOWN_MAX
  return (
    <List size="sm" withPadding={false}>
      {paths.slice(0, SHOWN_MAX).map((path) => (
        <List.Item key={path}>
          <bdi>{path}</bdi>
        </List.Item>
      ))}
      {more > 0 && <List.Item>and {formatCount(more)} more</List.Item>}
    </List>
  )
}

function count(files: number): string {
  return `${formatCount(files)} ${files === 1 ? 'file' : 'files'}`
}
