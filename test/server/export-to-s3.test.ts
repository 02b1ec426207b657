/** Scheduled exports to a real server that speaks S3: MinIO. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { S3Store } from '../../src/object-store/s3-store.ts'
import { failedExport, runExport } from '../support/carry-out.ts'
import { Minio, minioMissing } from '../support/minio.ts'
import { RunningService } from '../support/running-service.ts'

describe.skipIf(minioMissing)('scheduled exports to buckets', () => {
  let minio: Minio
  let service: RunningService

  beforeAll(async () => {
    minio = await Minio.start(['bucket'])
    service = await RunningService.start({
      ...minio.environment,
      ASSAY_EXPORT_BUCKETS: 'bucket/exports',
    })
  }, 1_200_000)
  afterAll(async () => {
    await service.stop()
    await minio.stop()
  })

  test('are written, rewound, and refused where they are not allowed', async () => {
    const project_id = await service.project('p')
    await service.insert('project_logs', project_id, [{ id: 'a' }, { id: 'b' }])
    const exportTo = async (export_path: string) => {
      const config = {
        event_type: 'btql_export',
        export_definition: { type: 'log_spans' },
        export_path,
        format: 'parquet',
        interval_seconds: 86_400,
        credentials: { type: 'service' },
      }
      const body = { project_id, name: export_path, config }
      const { json } = await service.request('/v1/project_automation', { body })
      return String(json.id)
    }
    const id = await exportTo('s3://bucket/exports/team')
    await runExport(service, id)
    const store = new S3Store(minio.settings, { bucket: 'bucket', prefix: 'exports/team' })
    const [data, manifest] = [await store.list('date='), await store.list('_manifests/')]
    expect([data.length, manifest.length]).toEqual([1, 1])
    expect((await store.read(data[0]!))?.toString('latin1')).toMatch(/^PAR1.*PAR1$/s)
    await service.request('/v1/export/rewind', { body: { project_automation_id: id } })
    await runExport(service, id)
    expect(await store.list('date=')).toHaveLength(1)
    for (const place of ['s3://bucket/exportsx', 's3://bucket', 's3://other/exports']) {
      expect(await failedExport(service, await exportTo(place))).toContain('--export-buckets')
    }
  })
})
