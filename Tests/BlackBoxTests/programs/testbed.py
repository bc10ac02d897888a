"""umockdev's testbed, told what to do by lines of JSON: [method, argument...]. The first line out is its folder.

Ours are "write": a device's node and the bytes to be read from it, in hexadecimal; "hang_up": who reads it reads to the
end; "watchdog" and "vanish", of a node that is a watchdog.
"""

import json
import os
import sys

import gi

gi.require_version("UMockdev", "1.0")
from gi.repository import UMockdev  # noqa: E402
from played_watchdog import PlayedWatchdog  # noqa: E402

watchdogs = {}


def main():
    testbed = UMockdev.Testbed.new()
    print(json.dumps(testbed.get_root_dir()), flush=True)
    for line in sys.stdin:
        method, *arguments = json.loads(line)
        answer = {}
        try:
            if method == "write":
                result = os.write(testbed.get_dev_fd(arguments[0]), bytes.fromhex(arguments[1]))
            elif method == "watchdog":
                node, *rest = arguments
                watchdogs[node] = PlayedWatchdog(*rest)
                result = testbed.attach_ioctl(node, watchdogs[node])
            elif method == "hang_up":
                result = os.close(testbed.get_dev_fd(arguments[0]))
            elif method == "vanish":
                watchdogs[arguments[0]].is_gone = True
                result = None
            else:
                result = getattr(testbed, method)(*arguments)
            answer["result"] = result if isinstance(result, (str, bool, int)) else None
        except Exception as error:  # pylint: disable=broad-except
            answer["error"] = repr(error)
        print(json.dumps(answer), flush=True)


main()
