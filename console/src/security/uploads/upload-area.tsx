import { Alert, Button, Group, List, Paper, Stack, Text } from '@mantine/core'
import { IconFileAlert, IconFiles, IconFolderOpen, IconUpload } from '@tabler/icons-react'
import { type ChangeEvent, useEffect, useEffectEvent, useRef, useState } from 'react'
import { api } from '../../api/client.ts'
import { useSession } from '../../api/session.ts'
import { formatCount, formatSize } from '../../page/numbers.ts'
import { chosenFiles, droppedFiles, type ReportFile, type Selection } from '../sending/dropped-files.ts'
import { startUploads } from '../sending/start-uploads.ts'
import classes from './upload-area.module.css'
import { targetProblems, UploadTargetFields, useUploadTarget } from './upload-target-fields.tsx'

const NOTHING: Selection = { files: [], skipped: [] }
const SHOWN_MAX = 5

/** Takes reports by drag and drop, or by a dialog. They are sent once the repository is known. */
export function UploadArea({ org }: { org: string }) {
  const { user } = useSession()
  const [target, changeTarget] = useUploadTarget()
  const [selection, setSelection] = useState<Selection>(NOTHING)
  const [isAsked, setAsked] = useState(false)
  const [isNothing, setNothing] = useState(false)
  const repository = useRef<HTMLInputElement>(null)
  const files = useRef<HTMLInputElement>(null)
  const folder = useRef<HTMLInputElement>(null)
  const waiting = selection.files.length

  const upload = (reports: readonly ReportFile[]): boolean => {
    const isReady = Object.values(targetProblems(target)).length === 0
    if (isReady) startUploads(reports, { org, userId: user.id, target })
    else repository.current?.focus()
    setAsked(!isReady)
    return isReady
  }
  const choose = ({ files: chosen, skipped }: Selection) => {
    const all = [...selection.files, ...chosen]
    setNothing(chosen.length === 0 && skipped.length === 0)
    setSelection({ files: all.length > 0 && upload(all) ? [] : all, skipped })
  }
  const isOver = usePageDrop((data) => void droppedFiles(data).then(choose))
  const onChosen = ({ currentTarget }: ChangeEvent<HTMLInputElement>) => {
    if (currentTarget.files) choose(chosenFiles(currentTarget.files))
    currentTarget.value = ''
  }
  const onUpload = () => {
    if (waiting === 0) files.current?.click()
    else if (upload(selection.files)) setSelection(NOTHING)
  }
  return (
    <Paper component="section" aria-label="Upload reports" p="md">
      <Stack gap={0}>
        <UploadTargetFields
          org={org}
          target={target}
          onChange={changeTarget}
          repositoryRef={repository}
          isAsked={isAsked}
        />
        <div className={classes.area} data-over={isOver || undefined}>
          <IconUpload size={24} aria-hidden />
          <Text fw={500} ta="center">
            Drag reports or folders here
          </Text>
          <Text size="sm" c="dimmed" ta="center">
            SARIF, CycloneDX, SPDX, OpenVEX or CSAF in JSON. <SizeLimit org={org} />
          </Text>
          <Group gap="xs" justify="center">
            <Button onClick={onUpload} leftSection={<IconUpload size={15} aria-hidden />}>
              {waiting === 0 ? 'Upload files' : `Upload ${formatCount(waiting)} ${waiting === 1 ? 'file' : 'files'}`}
            </Button>
            <Button
              variant="default"
              leftSection={<IconFolderOpen size={15} aria-hidden />}
              onClick={() => folder.current?.click()}
            >
              Choose folder
            </Button>
          </Group>
          <input ref={files} type="file" multiple hidden aria-label="Report files" onChange={onChosen} />
          <input
            ref={(input) => {
              folder.current = input
              // React's types lack the attribute.
              if (input) input.webkitdirectory = true
            }}
            type="file"
            hidden
            aria-label="Report folder"
            onChange={onChosen}
          />
        </div>
        <SelectionNotes selection={selection} isNothing={isNothing} onClear={() => setSelection(NOTHING)} />
      </Stack>
    </Paper>
  )
}

function SizeLimit({ org }: { org: string }) {
  const { data } = api.useQuery('get', '/app/api/orgs/{org}/usage', { params: { path: { org } } })
  return data ? `Up to ${formatSize(data.data.maximums.security_report_bytes)} each.` : null
}

type NotesProps = {
  selection: Selection
  /** An empty folder was dropped. */
  isNothing: boolean
  onClear: () => void
}

/** Says which files wait for the repository, and which were skipped. */
function SelectionNotes({ selection, isNothing, onClear }: NotesProps) {
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

/**
 * Files can be dropped anywhere on the page: a browser that drops one beside the area would leave
 * the page and show the file. Returns whether files are held over it.
 */
function usePageDrop(onDrop: (data: DataTransfer) => void): boolean {
  const [isOver, setOver] = useState(false)
  const drop = useEffectEvent(onDrop)
  useEffect(() => {
    const stop = new AbortController()
    const listen = (type: 'dragover' | 'dragleave' | 'drop', act: (event: DragEvent) => void) =>
      addEventListener(type, (event) => holdsFiles(event) && act(event), { signal: stop.signal })
    listen('dragover', (event) => {
      event.preventDefault()
      setOver(true)
    })
    listen('dragleave', ({ relatedTarget }) => {
      if (relatedTarget === null) setOver(false)
    })
    listen('drop', (event) => {
      event.preventDefault()
      setOver(false)
      if (event.dataTransfer) drop(event.dataTransfer)
    })
    return () => stop.abort()
  }, [])
  return isOver
}

function holdsFiles({ dataTransfer }: DragEvent): boolean {
  return dataTransfer?.types.includes('Files') ?? false
}
