import { Button, Group, Paper, Stack, Text } from '@mantine/core'
import { IconFolderOpen, IconUpload } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { type ChangeEvent, useRef, useState } from 'react'
import { useSession } from '../../api/session.ts'
import { formatCount, formatSize } from '../../page/numbers.ts'
import { usageQuery } from '../../settings/routes.ts'
import { chosenFiles, droppedFiles, type ReportFile, type Selection } from './dropped-files.ts'
import { SelectionNotes } from './selection-notes.tsx'
import { startUploads } from './start-uploads.ts'
import { targetProblems } from './target-problems.ts'
import classes from './upload-area.module.css'
import { UploadTargetFields } from './upload-target-fields.tsx'
import { usePageDrop } from './use-page-drop.ts'
import { useUploadTarget } from './use-upload-target.ts'

const NOTHING: Selection = { files: [], skipped: [] }

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
  const { data } = useQuery(usageQuery(org))
  return data ? `Up to ${formatSize(data.data.maximums.security_report_bytes)} each.` : null
}
