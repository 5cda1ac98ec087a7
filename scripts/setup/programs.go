// Part of the language host that scripts/setup builds: what engines of today ask about programs, which the host of
// v3.68.0 does not know.
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"

	pbempty "github.com/golang/protobuf/ptypes/empty"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
)

// Of a message that describes a program: its root folder, and `runtime.options` of Pulumi.yaml.
const rootDirectory, runtimeOptions = 1, 4

// Run acts on `runtime.options`, which are a part of the request; v3.68.0 takes them as flags, which no engine sets.
func (host *nodeLanguageHost) Run(ctx context.Context, req *pulumirpc.RunRequest) (*pulumirpc.RunResponse, error) {
	given := *host
	if err := given.take(textField(programOf(req), runtimeOptions)); err != nil {
		return &pulumirpc.RunResponse{Error: err.Error()}, nil
	}
	return given.runByFlags(ctx, req)
}

// programOf is the field `info` of the request.
func programOf(req *pulumirpc.RunRequest) []byte {
	return textField(req.ProtoReflect().GetUnknown(), 14)
}

// take refuses what the language hosts of newer versions refuse, and ignores what they ignore.
func (host *nodeLanguageHost) take(message []byte) error {
	var options structpb.Struct
	if err := proto.Unmarshal(message, &options); err != nil {
		return err
	}
	for name, value := range options.AsMap() {
		text, isText := value.(string)
		isRight := isText
		switch name {
		case "typescript":
			host.typescript, isRight = value.(bool)
		case "tsconfig":
			host.tsconfigpath = text
		case "nodeargs":
			host.nodeargs = text
		case "packagemanager":
			isRight = slices.Contains([]string{"auto", "npm", "yarn", "pnpm", "bun"}, text)
		default:
			continue
		}
		if !isRight {
			return fmt.Errorf("the option %s of the runtime has a wrong value", name)
		}
	}
	return nil
}

// constructArguments lets the program talk to the engine itself: the proxy of v3.68.0 passes on only the calls that it
// knows, without transforms and hooks.
func (host *nodeLanguageHost) constructArguments(
	req *pulumirpc.RunRequest, runPath, _ string, pipesDirectory string,
) []string {
	args := host.argumentsWithMonitor(req, runPath, req.GetMonitorAddress(), pipesDirectory)
	return slices.Insert(args, 1, "--root-directory", string(textField(programOf(req), rootDirectory)))
}

// Until the engine cancels, as a Ctrl-C makes it do.
var running, interrupt = context.WithCancel(context.Background())

// programCommand is a program that ends when the engine cancels: v3.68.0 lets it go on.
func programCommand(node string, args ...string) *exec.Cmd {
	command := exec.CommandContext(running, node, args...)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = 5 * time.Second
	return command
}

// register serves the host with the method Cancel, which v3.68.0 does not have.
func register(server *grpc.Server, host pulumirpc.LanguageRuntimeServer) {
	cancel := func(any, context.Context, func(any) error, grpc.UnaryServerInterceptor) (any, error) {
		interrupt()
		return &pbempty.Empty{}, nil
	}
	service := pulumirpc.LanguageRuntime_ServiceDesc
	service.Methods = append(slices.Clone(service.Methods), grpc.MethodDesc{MethodName: "Cancel", Handler: cancel})
	server.RegisterService(&service, host)
}
