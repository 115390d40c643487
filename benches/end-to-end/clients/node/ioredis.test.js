// ioredis

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';

import { Redis } from 'ioredis';

import { deadline, Mailbox, port } from './server.js';

function connect(t, options = {}) {
  const client = new Redis({ port, host: '127.0.0.1', commandTimeout: deadline, ...options });
  t.after(() => client.disconnect());
  return client;
}

test('ioredis runs commands', async (t) => {
  const client = connect(t);
  assert.equal(await client.ping(), 'PONG');
  await client.set('io', '41', 'EX', 100);
  assert.equal(await client.incr('io'), 42);
  await client.hset('io-hash', { a: '1', b: '2' });
  assert.deepEqual(await client.hgetall('io-hash'), { a: '1', b: '2' });
  await assert.rejects(client.call('NOSUCH'), /unknown command 'NOSUCH'/);
});

test('ioredis subscribes and unsubscribes', async (t) => {
  const [publisher, subscriber] = [connect(t), connect(t)];
  const [messages, matched] = [new Mailbox(), new Mailbox()];
  subscriber.on('message', messages.put);
  subscriber.on('pmessage', matched.put);
  assert.equal(await subscriber.subscribe('io-a', 'io-b'), 2);
  assert.equal(await subscriber.psubscribe('io-n*'), 3);
  assert.equal(await publisher.publish('io-a', '1'), 1);
  assert.deepEqual(await messages.next(), ['io-a', '1']);
  assert.equal(await publisher.publish('io-news', '2'), 1);
  assert.deepEqual(await matched.next(), ['io-n*', 'io-news', '2']);
  assert.deepEqual(await publisher.pubsub('NUMSUB', 'io-a', 'io-z'), ['io-a', 1, 'io-z', 0]);
  assert.equal(await subscriber.unsubscribe('io-a'), 2);
  assert.equal(await subscriber.punsubscribe('io-n*'), 1);
  assert.equal(await publisher.publish('io-a', '3'), 0);
  assert.equal(await publisher.publish('io-b', '4'), 1);
  assert.deepEqual(await messages.next(), ['io-b', '4']);
  assert.equal(await subscriber.unsubscribe(), 0);
  // An ordinary connection again.
  await subscriber.set('io-after', 'x');
  assert.equal(await subscriber.get('io-after'), 'x');
});

test('ioredis receives binary messages', async (t) => {
  const [publisher, subscriber] = [connect(t), connect(t)];
  const messages = new Mailbox();
  subscriber.on('messageBuffer', messages.put);
  await subscriber.subscribe('io-binary');
  const payload = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
  await publisher.publish('io-binary', payload);
  assert.deepEqual((await messages.next())[1], payload);
});

test('ioredis pipelines and runs transactions', async (t) => {
  const [client, subscriber] = [connect(t), connect(t)];
  const messages = new Mailbox();
  subscriber.on('message', messages.put);
  await subscriber.subscribe('io-pipe');
  for (const many of [client.pipeline(), client.multi()]) {
    const results = await many.set('io-k', 41).incr('io-k').publish('io-pipe', 'x').exec();
    assert.deepEqual(results, [[null, 'OK'], [null, 42], [null, 1]]);
    assert.deepEqual(await messages.next(), ['io-pipe', 'x']);
  }
  const numbers = Array.from({ length: 1000 }, (_, number) => String(number));
  const pipeline = client.pipeline();
  for (const number of numbers) pipeline.publish('io-pipe', number);
  await pipeline.exec();
  for (const number of numbers) assert.deepEqual(await messages.next(), ['io-pipe', number]);
});

test('ioredis reconnects and subscribes again', async (t) => {
  const publisher = connect(t);
  const subscriber = connect(t, { connectionName: 'io-reconnects', retryStrategy: () => 10 });
  const messages = new Mailbox();
  subscriber.on('message', messages.put);
  await subscriber.subscribe('io-again');
  for (let round = 0; round < 3; round += 1) {
    const list = await publisher.client('LIST');
    const mine = list.split('\n').find((line) => line.includes('name=io-reconnects'));
    const ready = once(subscriber, 'ready');
    await publisher.client('KILL', 'ID', mine.match(/\bid=(\d+)/)[1]);
    await ready;
    // Its own SUBSCRIBE is on its way now, and this one behind it.
    await subscriber.subscribe('io-again-too');
    assert.equal(await publisher.publish('io-again', String(round)), 1);
    assert.deepEqual(await messages.next(), ['io-again', String(round)]);
  }
});
