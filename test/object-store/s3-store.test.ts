/** Against a real server: MinIO. */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifyBackups } from '../../src/backup/verify-backups.ts'
import { S3Store } from '../../src/object-store/s3-store.ts'
import { allAnswers, backUp, differences, restoreFrom } from '../support/backups.ts'
import { Minio, minioMissing } from '../support/minio.ts'
import { RunningService } from '../support/running-service.ts'

describe.skipIf(minioMissing)('a store in a bucket', () => {
  let minio: Minio
  const storeIn = (prefix: string) => new S3Store(minio.settings, { bucket: 'bucket', prefix })

  beforeAll(async () => {
    minio = await Minio.start(['bucket'])
  }, 1_200_000)
  afterAll(() => minio.stop())

  test('keeps files by their paths, apart from those of other prefixes', async () => {
    const store = storeIn('a/b')
    const other = storeIn('')
    expect(await store.read('x/1')).toBeUndefined()
    expect(await store.has('x/1')).toBe(false)
    await store.write('x/1', Buffer.from('one'))
    await store.write('x/2', Buffer.from('two'))
    await store.write('x/1', Buffer.from('one again'))
    await other.write('a/bb', Buffer.from('beside'))
    expect((await store.read('x/1'))?.toString()).toBe('one again')
    expect(await store.has('x/1')).toBe(true)
    expect(await store.list('')).toEqual(['x/1', 'x/2'])
    expect(await store.list('x/2')).toEqual(['x/2'])
    expect(await other.list('a/')).toEqual(['a/b/x/1', 'a/b/x/2', 'a/bb'])
    await store.remove('x/1')
    await store.remove('x/1')
    expect(await store.list('')).toEqual(['x/2'])
  })

  test('lists more than a page', async () => {
    const store = storeIn('pages')
    const names = Array.from({ length: 1005 }, (_, i) => `n${String(i).padStart(4, '0')}`)
    for (let i = 0; i < names.length; i += 67) {
      await Promise.all(names.slice(i, i + 67).map((name) => store.write(name, Buffer.from(name))))
    }
    expect(await store.list('')).toEqual(names)
  })

  test.each([0, 1, 8 * 2 ** 20 - 1, 8 * 2 ** 20, 21 * 2 ** 20 + 7])(
    'a file of %i bytes that comes bit by bit is there once it is kept',
    async (length) => {
      const store = storeIn('parts')
      const content = randomBytes(length)
      const file = await store.create('f')
      for (let at = 0; at < length; at += 700_001) {
        await file.append([content.subarray(at, at + 700_001)])
      }
      expect(await store.has('f')).toBe(false)
      await file.keep()
      expect((await store.read('f'))?.equals(content)).toBe(true)
      await store.remove('f')
    },
  )

  test('what is abandoned, or was left by a kill, is no file and takes no room', async () => {
    const store = storeIn('unfinished')
    const abandoned = await store.create('f')
    await abandoned.append([randomBytes(9 * 2 ** 20)])
    await abandoned.abandon()
    const left = await store.create('f')
    await left.append([randomBytes(9 * 2 ** 20)])
    await left.append([randomBytes(9 * 2 ** 20)])
    await store.removeUnfinished('f')
    expect(await store.list('')).toEqual([])
    await expect(left.keep()).rejects.toThrow('s3://bucket/unfinished/f')
  })

  test('one holds the lock at a time', async () => {
    const [one, other] = [storeIn('locked'), storeIn('locked')]
    const unlock = await one.lock()
    await expect(other.lock()).rejects.toMatchObject({ code: 'STORAGE_LOCKED' })
    await unlock()
    const both = await Promise.allSettled([one.lock(), other.lock()])
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(await one.list('')).toEqual([])
  })

  test('what goes wrong names the place and the way out', async () => {
    const none = new S3Store(minio.settings, { bucket: 'none-such', prefix: '' })
    await expect(none.write('x', Buffer.from(''))).rejects.toMatchObject({
      code: 'STORAGE_UNAVAILABLE',
      message: expect.stringContaining('cannot write s3://none-such/x: NoSuchBucket'),
      hint: expect.stringContaining('make the bucket'),
    })
    const credentials = { accessKeyId: 'nobody', secretAccessKey: 'no-such-secret' }
    const stranger = new S3Store(
      { ...minio.settings, credentials },
      { bucket: 'bucket', prefix: '' },
    )
    await expect(stranger.list('')).rejects.toMatchObject({
      hint: expect.stringContaining('ASSAY_S3_ACCESS_KEY_ID'),
    })
    const endpoint = 'http://127.0.0.1:9'
    const nowhere = new S3Store({ ...minio.settings, endpoint }, { bucket: 'bucket', prefix: '' })
    await expect(nowhere.read('x')).rejects.toMatchObject({
      code: 'STORAGE_UNAVAILABLE',
      hint: expect.stringContaining('--s3-endpoint'),
    })
  })

  test('backups are taken to it, checked in it, and restored from it', async () => {
    const service = await RunningService.start()
    const project = await service.project('p')
    const store = storeIn('backups')
    for (let round = 0; round < 2; round++) {
      const events = Array.from({ length: 300 }, (_, i) => ({
        id: `r${i + round * 200}`,
        input: `words ${i} ${round}`,
        scores: { a: i / 300 },
      }))
      await service.insert('project_logs', project, events)
      const unlock = await store.lock()
      await backUp(service, store)
      await unlock()
    }
    const { faults } = await verifyBackups(store, () => {})
    expect(faults).toEqual([])
    const { service: restored, stop } = await restoreFrom(store)
    expect(differences(await allAnswers(restored), await allAnswers(service))).toEqual([])
    await stop()
    await service.stop()
  })
})
